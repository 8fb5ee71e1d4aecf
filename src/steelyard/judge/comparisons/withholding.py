"""What forbids the verdict that the tests decide: each check gives its reason, or ``None``."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from steelyard.inference.assumptions.carry_over import carry_over
from steelyard.inference.assumptions.diagnostics import counts_differ
from steelyard.inference.estimate import estimate
from steelyard.inference.noise.robust import ROUNDING_LOG, Floats
from steelyard.inference.sequential import Decision, VerdictWord
from steelyard.judge.comparisons.families import Comparison
from steelyard.judge.comparisons.interference_checks import (
    generator_saturated,
    interference_explains,
    interference_unequal,
)
from steelyard.judge.comparisons.span import disagrees
from steelyard.judge.kinds.verdict_notes import (
    CarryOverDecides,
    CarryOverFound,
    EffectChanges,
    FailedAttemptsDecide,
    InvalidUnequal,
    StepsTooCoarse,
    TooManyInvalid,
    Withheld,
)
from steelyard.judge.visits.pairs import Pair
from steelyard.judge.visits.series import Series, Visits, is_constant

MOST_INVALID = 0.10
FEW_INVALID = 2


def veto(
    comparison: Comparison,
    series: Series,
    decision: Decision,
    readings: Visits,
    margin_log: float,
) -> Withheld | None:
    """The gravest reason why a decision must not be announced."""
    pair = comparison.pair
    return (
        unreliable(pair, series, readings)
        or _carry_over_found(comparison, series, decision, readings, margin_log)
        or contradicted(series, decision, margin_log)
        or disagrees(comparison, series, decision, readings, margin_log)
        or coarse(series, decision, margin_log)
        or generator_saturated(comparison, series, readings, decision.words)
        or interference_explains(pair, series, readings, decision.words)
        or _failed_attempts_decide(comparison, series, decision, readings, margin_log)
        or _carry_over_decides(comparison, series, decision, readings, margin_log)
    )


def unreliable(pair: Pair, series: Series, readings: Visits) -> Withheld | None:
    """What forbids any decision of these visits, whatever the question."""
    return (
        readings.distrusted
        or too_many_invalid(pair, readings)
        or interference_unequal(pair, series, readings)
    )


def too_many_invalid(pair: Pair, readings: Visits) -> TooManyInvalid | None:
    """More than a tenth of what was measured is invalid: the machine cannot carry this study."""
    counts = readings.invalid(pair)
    invalid = sum(count for count, _ in counts.values())
    measured = sum(of for _, of in counts.values())
    if invalid <= max(FEW_INVALID, MOST_INVALID * measured):
        return None
    return TooManyInvalid(invalid=invalid, measured=measured, limit_share=MOST_INVALID)


def invalid_unequal(comparison: Comparison, readings: Visits) -> InvalidUnequal | None:
    """Invalid trials that are not blind to the system: leaving them out would favour one."""
    pair = comparison.pair
    one, another = readings.invalid(pair).values()
    if not counts_differ(one, another):
        return None
    return InvalidUnequal(
        baseline=pair.baseline,
        other=pair.other,
        invalid_baseline=one[0],
        measured_baseline=one[1],
        invalid_other=another[0],
        measured_other=another[1],
    )


def carry_over_found(
    pair: Pair, series: Series, margin_log: float, stands: Callable[[Floats], bool]
) -> CarryOverFound | None:
    """Visits of a system that depend on the system of the visit before, where that may decide.

    ``stands`` says whether the decision is the same with other values of the visits: with those
    of one arm moved either way by the most that carry-over of both arms can have moved them.
    """
    known = series.defined()
    left = carry_over(known.values, known.other, known.slots, known.before)
    if left is None or not left.forbids(margin_log):
        return None
    moved = left.most_log * known.other
    if stands(known.values - moved) and stands(known.values + moved):
        return None
    felt_by = pair.other if left.in_other else pair.baseline
    return CarryOverFound(system=felt_by, low_log=left.low_log, high_log=left.high_log)


def _carry_over_found(
    comparison: Comparison,
    series: Series,
    decision: Decision,
    readings: Visits,
    margin_log: float,
) -> CarryOverFound | None:
    """No decision on another scale stands beside it: it cannot be taken out there."""
    again = _again(comparison, series, readings, margin_log)

    def stands(values: Floats) -> bool:
        return comparison.scale == "log" and again(values).words == decision.words

    return carry_over_found(comparison.pair, series, margin_log, stands)


def _again(
    comparison: Comparison, series: Series, readings: Visits, margin_log: float
) -> Callable[[Floats], Decision]:
    """Decides on other values of the visits that have one."""

    def again(values: Floats) -> Decision:
        changed = series.with_defined(values)
        tests = readings.tests(changed, comparison.pair, exploratory=comparison.exploratory)
        return tests.decide(margin_log, comparison.share)

    return again


def contradicted(series: Series, decision: Decision, margin_log: float) -> EffectChanges | None:
    """A decision that the estimate of the same visits contradicts: the effect has changed."""
    known = series.defined()
    found = estimate(known.values, known.other)
    return None if found is None else contradicts(found.ratio_log, decision, margin_log)


def contradicts(effect_log: float, decision: Decision, margin_log: float) -> EffectChanges | None:
    """The same of an estimate, in the good direction."""
    words = decision.words
    against = (
        (VerdictWord.FASTER in words and effect_log < 0)
        or (VerdictWord.SLOWER in words and effect_log > 0)
        or (words == (VerdictWord.EQUIVALENT,) and abs(effect_log) > margin_log)
    )
    return EffectChanges() if against else None


def coarse(series: Series, decision: Decision, margin_log: float) -> StepsTooCoarse | None:
    """*Equivalent* of figures that could not have shown a difference of the margin.

    One arm has a single figure, and the next figure that was ever read lies farther away than the
    margin: a difference between them is not seen.
    """
    known = series.defined()
    arms = known.values[known.other], known.values[~known.other]
    if VerdictWord.EQUIVALENT not in decision.words or not any(map(is_constant, arms)):
        return None
    steps = np.diff(np.unique(known.values))
    steps = steps[steps > ROUNDING_LOG]
    if not len(steps) or steps.min() <= margin_log:
        return None
    return StepsTooCoarse(step_log=float(steps.min()))


def _failed_attempts_decide(
    comparison: Comparison,
    series: Series,
    decision: Decision,
    readings: Visits,
    margin_log: float,
) -> FailedAttemptsDecide | None:
    """A decision that depends on leaving out failed attempts."""
    if comparison.scale != "log":
        return None
    kept = readings.series(
        comparison.pair, comparison.response, comparison.conditions, keep_failed=True
    )
    if kept.visits == series.visits and (kept.values == series.values).all():
        return None
    tests = readings.tests(kept, comparison.pair, exploratory=comparison.exploratory)
    if tests.decide(margin_log, comparison.share).words == decision.words:
        return None
    return FailedAttemptsDecide()


def _carry_over_decides(
    comparison: Comparison,
    series: Series,
    decision: Decision,
    readings: Visits,
    margin_log: float,
) -> CarryOverDecides | None:
    """A decision that would be another with the largest plausible carry-over taken out.

    Tested only where carry-over shows, and where it can be taken out of a logarithm.
    """
    if comparison.scale != "log":
        return None
    again = _again(comparison, series, readings, margin_log)
    return carry_over_decides(series, decision, again)


def carry_over_decides(
    series: Series, decision: Decision, again: Callable[[Floats], Decision]
) -> CarryOverDecides | None:
    """The same of any series of logarithms; ``again`` decides on other values of its visits.

    It is taken out of the visits that follow the system, or else of the others of that arm.
    """
    known = series.defined()
    left = carry_over(known.values, known.other, known.slots, known.before)
    if left is None or not left.shows:
        return None
    most = max(left.low_log, left.high_log, key=abs)
    without = (known.values - most * left.after, known.values + most * left.rest)
    if all(again(values).words == decision.words for values in without):
        return None
    return CarryOverDecides()
