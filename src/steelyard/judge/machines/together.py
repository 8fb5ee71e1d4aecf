"""One pair on several machines: the verdict on all of these, and what depends on the machine.

What withholds a verdict is asked of every machine, up to the visit that decided on all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Literal

from steelyard.inference import machines
from steelyard.inference.confidence import Interval
from steelyard.inference.machines import Deviation, Population
from steelyard.inference.sequential import VerdictWord
from steelyard.inference.stream import Stream
from steelyard.judge.comparisons.comparison import ASKED_AGAIN, Judged, Standing
from steelyard.judge.comparisons.families import Comparison
from steelyard.judge.comparisons.verdict_finding import finding
from steelyard.judge.findings import VerdictFinding
from steelyard.judge.machines.findings import (
    MachineEffect,
    MachinesFinding,
    OtherMachines,
)
from steelyard.judge.machines.looks import Look, in_turn
from steelyard.judge.machines.withholding import Objection, guardrails, objection_to
from steelyard.judge.visits.series import Series, Visits

LEAST_VISITS_OF_ONE = 2
"""Of each system on each machine, before anything is judged of all of these."""


def judge_together(
    comparison: Comparison, on: Mapping[str, Visits], margin_log: float
) -> tuple[VerdictFinding, MachinesFinding | None]:
    """The verdict on all of these machines; what depends on them is ``None`` if it is not judged.

    ``on``: the visits of each machine, of one random order each.
    """
    judged, objection = _judged(comparison, on, margin_log)
    verdict = finding(judged, next(iter(on.values())), margin_log)
    verdict = verdict.model_copy(update={"span_s": _span_s(comparison, on, judged)})
    tests = judged.present.tests
    if tests is None:
        return verdict, None
    withheld_on = None if objection is None else objection.machine
    return verdict, _beside(comparison, tuple(on), tests.stream, margin_log, withheld_on)


def word_together(
    comparison: Comparison, on: Mapping[str, Visits], margin_log: float
) -> VerdictWord:
    """The word alone: cheap enough to ask after each visit."""
    return _judged(comparison, on, margin_log)[0].word


def _judged(
    comparison: Comparison, on: Mapping[str, Visits], margin_log: float
) -> tuple[Judged, Objection | None]:
    look = Look.of(comparison, on)
    problems = tuple(dict.fromkeys(p for each in look.series.values() for p in each.problems))
    if problems or min(map(_of_one, look.series.values())) < LEAST_VISITS_OF_ONE:
        nothing = Standing(comparison, replace(in_turn(look.series), problems=problems))
        return Judged(nothing, nothing), None
    look = look.first(look.least)
    tests = look.tests()
    decision = tests.decide(margin_log, comparison.share)
    present = Standing(comparison, in_turn(look.series), tests, decision)
    said, objection = _said(present, look, margin_log)
    return Judged(present, said), objection


def _span_s(comparison: Comparison, on: Mapping[str, Visits], judged: Judged) -> float | None:
    """The longest time on any of them of the visits that the verdict is of."""
    look = Look.of(comparison, on)
    counted = judged.said.series.visits
    then = look.first(counted[-1]) if counted else look
    spans = [
        on[name].span_s(own.visits[0], own.visits[-1])
        for name, own in then.series.items()
        if own.visits
    ]
    return max((each for each in spans if each is not None), default=None)


def _of_one(series: Series) -> int:
    """Visits of the system that has fewer."""
    return min(series.n_baseline, series.n_other)


def _said(present: Standing, look: Look, margin_log: float) -> tuple[Standing, Objection | None]:
    """The look that may be announced, or the last that was asked, and what stands against it.

    Asked again when the visits have grown by a quarter, and after the last.
    """
    said, objection = present, None
    if present.tests is not None and present.tests.stream.once:
        return said, objection
    for visits in _asked(present):
        then = look.first(visits)
        tests = then.tests()
        objection = objection_to(present, then, tests, margin_log)
        said = replace(
            present,
            series=in_turn(then.series),
            tests=tests,
            veto=None if objection is None else objection.reason,
            guardrails=guardrails(present, then),
        )
        if said.words:
            break
    return said, objection


def _asked(present: Standing) -> Iterator[int]:
    """The visits on each machine after which the decision is asked."""
    if present.tests is None or present.decision.at is None:
        return
    last, at = present.tests.stream.visits, float(present.decision.at)
    while at < last:
        yield int(at)
        at = max(at + 1, at * ASKED_AGAIN)
    yield last


def _beside(
    comparison: Comparison,
    names: tuple[str, ...],
    stream: Stream,
    margin_log: float,
    withheld_on: str | None,
) -> MachinesFinding:
    """Whether the effect depends on the machine, and what these say of others."""
    deviations = machines.deviations(stream, comparison.share) or []
    others = machines.others_like_them(stream, comparison.share)
    sign = -1.0 if comparison.response.direction == "lower" else 1.0
    return MachinesFinding(
        response=comparison.response.name,
        baseline=comparison.pair.baseline,
        other=comparison.pair.other,
        conditions=comparison.conditions,
        machines=names,
        margin_log=margin_log,
        alpha=comparison.share,
        visits_each=stream.visits,
        withheld_on=withheld_on,
        interaction=_interaction(deviations, margin_log),
        effects=tuple(
            MachineEffect(
                machine=name,
                deviation_log=sign * each.difference_log,
                **_ends("", each.interval.signed(sign)),
            )
            for name, each in zip(names, deviations, strict=True)
        ),
        others=None if others is None else _others(others, sign, margin_log),
        least_machines=machines.LEAST_MACHINES,
    )


def _interaction(found: list[Deviation], margin_log: float) -> Literal["differs", "alike", "open"]:
    if any(_beyond(each.interval, 0.0) for each in found):
        return "differs"
    return "alike" if all(_within(each.interval, margin_log) for each in found) else "open"


def _others(found: Population, sign: float, margin_log: float) -> OtherMachines:
    return OtherMachines(
        word=_word(found, margin_log),
        mean_log=sign * found.mean_log,
        spread_log=found.spread_log,
        **_ends("", found.mean.signed(sign)),
        **_ends("equivalence_", found.inner.signed(sign)),
        **_ends("further_", found.further.signed(sign)),
    )


def _word(found: Population, margin_log: float) -> VerdictWord:
    """Of the present look; in the good direction."""
    low, high = found.mean
    if low is not None and low > 0:
        return VerdictWord.FASTER
    if high is not None and high < 0:
        return VerdictWord.SLOWER
    equivalent = _within(found.inner, margin_log)
    return VerdictWord.EQUIVALENT if equivalent else VerdictWord.UNDECIDED


def _ends(prefix: str, interval: Interval) -> dict[str, float | None]:
    return {f"{prefix}low_log": interval.low, f"{prefix}high_log": interval.high}


def _beyond(interval: Interval, value: float) -> bool:
    low, high = interval
    return (low is not None and low > value) or (high is not None and high < value)


def _within(interval: Interval, margin_log: float) -> bool:
    low, high = interval
    return low is not None and high is not None and -margin_log < low <= high < margin_log
