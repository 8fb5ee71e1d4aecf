"""What was not tested, and what the guarantee rests on: sentences that bound every claim."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from steelyard.inference.diagnostics import counts_differ
from steelyard.inference.paired_t import ASSUMPTION
from steelyard.plan.model import Plan
from steelyard.records.schema import Outcome, TrialRecord
from steelyard.study.ending import measured
from steelyard.study.labels import Labels
from steelyard.study.lookup import workload_of
from steelyard.study.model import Study
from steelyard.study.timing import resets

GUARANTEE = "The error rate holds"
SUSPECT = "are suspect:"
_MOST_FAILED = 0.10
_NO_FAULT_OF_A_SYSTEM = {Outcome.INTERRUPTED, Outcome.CONTROLLER_LOST}
_NAMED_FACTS = {"cpu.model": "processor", "kernel.release": "kernel"}
_NOT_RENEWED = {
    "service": "caches of the system, the layout of its disk and its boot",
    "process": "caches of the system, the layout of its disk and its boot",
    "container": "caches of the system, the layout of its disk and its boot",
    "snapshot": "the boot of the machine beneath and its hardware",
    "boot": "the installation and the hardware",
}


def limits(study: Study, plan: Plan, records: Sequence[TrialRecord]) -> Iterator[str]:
    """What this study cannot say, from the study and its records."""
    yield _machine(records)
    yield from _conditions(plan, Labels.of(study))
    yield from _screened(plan)
    yield (f"A trial measures {measured(study)}: longer runs were not tested.")
    yield from _resets(study)
    yield from _generator(study, records)
    yield from _doubts(records)
    yield from failures(plan, records)
    if len(plan.systems) > 1:
        yield _guarantee(study)


def _resets(study: Study) -> Iterator[str]:
    """One sentence for each strength; of whose systems, where they differ."""
    by_word: dict[str, list[str]] = {}
    for name, word in resets(study).items():
        by_word.setdefault(word, []).append(name)
    for word, names in by_word.items():
        of = f" of {', '.join(names)}" if len(by_word) > 1 else ""
        yield (
            f"Trials{of} start from a reset of strength '{word}': {_NOT_RENEWED[word]} were the "
            "same throughout."
        )


def _guarantee(study: Study) -> str:
    if study.judge.engine == "normal":
        return f"{ASSUMPTION}. Nothing is kept for an extension of the budget."
    return (
        f"{GUARANTEE} for any noise, given the recorded coin, no carry-over from one "
        "visit to the next, and systems that differ by a constant ratio; where their "
        "spreads differ, a second test holds it, simulated to 4 to 1."
    )


def failures(plan: Plan, records: Sequence[TrialRecord]) -> Iterator[str]:
    """Whether leaving out failed attempts may have favoured a system."""
    counted = [r for r in records if r.outcome not in _NO_FAULT_OF_A_SYSTEM]
    failed = Counter(r.cell.system for r in counted if r.outcome is not Outcome.OK)
    of = Counter(r.cell.system for r in counted)
    total = sum(failed.values())
    if total > _MOST_FAILED * len(counted):
        yield (
            f"{total} of {len(counted)} attempts failed: more than {_MOST_FAILED:.0%}, so what "
            "was measured may be the better part of what happens."
        )
    baseline = plan.systems[0]
    for system in plan.systems[1:]:
        if not of[system] or not of[baseline]:
            continue
        if counts_differ((failed[system], of[system]), (failed[baseline], of[baseline])):
            yield (
                f"Attempts fail unequally: {failed[baseline]} of {of[baseline]} on {baseline}, "
                f"{failed[system]} of {of[system]} on {system}. Leaving them out is not blind to "
                "the system, so the error rate is not guaranteed."
            )


def _machine(records: Sequence[TrialRecord]) -> str:
    told = []
    for fact, noun in _NAMED_FACTS.items():
        values = {facts.get(fact) for r in records if (facts := r.facts.get("system"))}
        if len(values) == 1 and (value := values.pop()) is not None:
            told.append(f"{noun} {value}")
    machine = f" ({', '.join(told)})" if told else ""
    return f"Measured on one machine{machine}: other machines were not tested."


def _conditions(plan: Plan, labels: Labels) -> Iterator[str]:
    texts = [text for each in plan.conditions if (text := labels.conditions(each))]
    if texts:
        yield f"Measured at {'; '.join(texts)}: nothing is said between or beyond."


def _screened(plan: Plan) -> Iterator[str]:
    if plan.screen is None:
        return
    levels = "; ".join(
        f"{name} {', '.join(map(str, each))}" for name, each in plan.screen.factors.items()
    )
    yield f"Screened at {levels}: nothing is said between or beyond."
    yield (
        "The error rate of effects rests on trials of equal spread in every cell, in random order; "
        "that of shares also on noise that is about normal."
    )


def _generator(study: Study, records: Sequence[TrialRecord]) -> Iterator[str]:
    if study.generator.host == "local" and workload_of(study.workload).is_load:
        yield "The load came from the same machine and shared its processors with the systems."
    good = [r for r in records if r.outcome is Outcome.OK]
    limited = [r for r in good if r.limited_by is not None and "generator" in r.limited_by]
    if limited:
        yield (
            f"The generator limited {len(limited)} of {len(good)} trials: there it is the "
            "generator that was measured, and systems look more alike than they are."
        )


def _doubts(records: Sequence[TrialRecord]) -> Iterator[str]:
    good = [r for r in records if r.outcome is Outcome.OK]
    kinds = Counter(kind for r in good for kind in dict.fromkeys(d.kind for d in r.doubts))
    for kind, count in kinds.most_common():
        yield f"{count} of {len(good)} trials that count {SUSPECT} {kind.replace('_', ' ')}."
