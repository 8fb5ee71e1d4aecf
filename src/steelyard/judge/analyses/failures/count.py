"""How often operations and attempts failed, and whether that differs between systems.

Operations are judged by visit, never pooled: within a trial they fail together, and a test of
pooled counts is wrong in 26 % of equal systems at a correlation of 0.001. The number of a visit
is the logarithm of the odds to fail, and the engine is that of every other response.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from steelyard.inference.probability.distributions import counts_chance
from steelyard.inference.sequential import VerdictWord
from steelyard.inference.spending import FIRST_LOOK
from steelyard.judge.analyses.failures.findings import (
    FailureContrastFinding,
    FailureFinding,
    FailureWord,
)
from steelyard.judge.kinds.verdict_notes import FailuresNotCounted, TooFewVisits
from steelyard.judge.visits.pairs import Pair
from steelyard.judge.visits.readings import Readings
from steelyard.judge.visits.series import Series
from steelyard.plan.model import Plan
from steelyard.records.schema import FailedOperations, Outcome, TrialRecord
from steelyard.study.model import ResponseSpec
from steelyard.study.workload_study import WorkloadStudy

ERRORS = "errors"
NO_FAULT_OF_A_SYSTEM = frozenset({Outcome.INTERRUPTED, Outcome.CONTROLLER_LOST})
_BY_THE_RULE_OF_THREE = 3.0
_RESPONSE = ResponseSpec(name=ERRORS, label="failures", unit="ratio", direction="lower")


def failure_findings(plan: Plan, records: Sequence[TrialRecord]) -> Iterator[FailureFinding]:
    """One for each system, in the order of the study."""
    for system in plan.systems:
        own = [r for r in records if r.cell.system == system]
        counted = [r for r in own if r.outcome not in NO_FAULT_OF_A_SYSTEM]
        good = [r for r in own if r.outcome is Outcome.OK]
        operations, failed = _operations(good)
        yield FailureFinding(
            system=system,
            operations=operations,
            failed=failed,
            below=_BY_THE_RULE_OF_THREE / operations if operations and not failed else None,
            attempts=len(counted),
            attempts_failed=sum(r.outcome is not Outcome.OK for r in counted),
            attempts_invalid=sum(r.outcome is Outcome.INVALID for r in counted),
            causes=tuple(_causes(good)),
        )


def _causes(good: Sequence[TrialRecord]) -> list[FailedOperations]:
    """Those of all trials together; what was said first stands for each."""
    alike: dict[tuple[str, str], list[FailedOperations]] = defaultdict(list)
    for each in (failed for record in good for failed in record.failed_operations):
        alike[each.phase, each.error].append(each)
    sums = [of[0].model_copy(update={"count": sum(e.count for e in of)}) for of in alike.values()]
    return sorted(sums, key=lambda each: -each.count)


def _operations(good: Sequence[TrialRecord]) -> tuple[int | None, int | None]:
    told = [m for r in good if (m := r.responses.get(ERRORS)) is not None and m.of]
    shares = [(m.value, m.of) for m in told if m.value is not None and m.of is not None]
    if not shares:
        return None, None
    return sum(of for _, of in shares), sum(round(share * of) for share, of in shares)


def failure_contrasts(
    study: WorkloadStudy,
    pairs: Sequence[Pair],
    readings: Readings,
    counts: Sequence[FailureFinding],
) -> Iterator[FailureContrastFinding]:
    """One for each compared pair; exploratory: each by itself at the rate of the study."""
    of = {count.system: count for count in counts}
    for pair in pairs:
        series = readings.series(pair, _RESPONSE, None, scale="odds")
        ends = _judged(series, pair, readings, study)
        one, another = of[pair.baseline], of[pair.other]
        yield FailureContrastFinding(
            baseline=pair.baseline,
            other=pair.other,
            interval_level=1 - study.trials.alpha,
            attempts_chance=_chance(one, another),
            **(ends if (one.failed or another.failed) else _none_failed(one, another)),
        )


def _none_failed(one: FailureFinding, another: FailureFinding) -> dict[str, object]:
    known = one.failed is not None and another.failed is not None
    word: FailureWord = "none_failed" if known else "not_judged"
    note = None if known else FailuresNotCounted()
    return {"word": word, "odds_log": None, "low_log": None, "high_log": None, "note": note}


def _judged(
    series: Series, pair: Pair, readings: Readings, study: WorkloadStudy
) -> dict[str, object]:
    """Word and interval; ``not_judged`` with the reason where failures were not counted."""
    nothing = {"odds_log": None, "low_log": None, "high_log": None}
    if series.problems:
        return {"word": "not_judged", "note": series.problems[0], **nothing}
    note = TooFewVisits(visits=len(series.values), needed=FIRST_LOOK)
    too_few: dict[str, object] = {"word": "undecided", "note": note, **nothing}
    if len(series.values) < FIRST_LOOK:
        return too_few
    alpha, margin = study.trials.alpha, study.trials.margin_log
    tests = readings.tests(series, pair, exploratory=True)
    found = tests.estimate()
    if found is None:
        return too_few
    words = tests.decide(margin, alpha).words
    if any(series.never):
        return {"word": _word(words), "note": None, **nothing}
    [(interval, _)] = tests.sizes(margin, [alpha / 2], found.ratio_log)
    low, high = interval.signed(-1)
    return {
        "word": _word(words),
        "note": None,
        "odds_log": -found.ratio_log,
        "low_log": low,
        "high_log": high,
    }


def _word(words: tuple[VerdictWord, ...]) -> FailureWord:
    if VerdictWord.SLOWER in words:
        return "fails_more"
    return "fails_less" if VerdictWord.FASTER in words else "undecided"


def _chance(one: FailureFinding, another: FailureFinding) -> float | None:
    if not one.attempts or not another.attempts:
        return None
    return counts_chance(
        (one.attempts_failed, one.attempts), (another.attempts_failed, another.attempts)
    )
