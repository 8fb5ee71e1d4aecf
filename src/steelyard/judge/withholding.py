"""What forbids to say what the tests decide: each a reason in a sentence, or ``None``."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from steelyard.inference.diagnostics import carry_over, counts_differ, halves
from steelyard.inference.estimate import estimate
from steelyard.inference.sequential import Decision, decide
from steelyard.inference.verdict_word import VerdictWord
from steelyard.inference.weights import Floats
from steelyard.judge.families import Comparison
from steelyard.judge.interference_checks import disturbed, owed_to, saturated
from steelyard.judge.series import Pair, Readings, Series, is_constant, stream_of

MOST_INVALID = 0.10
FEW_INVALID = 2
_CLEAR_SES = 2.0
_ROUNDING_LOG = 1e-12
UNSTABLE = "the effect changes sign between the first and the second half of the visits"
TURNED = (
    "what an earlier look decided, all visits together do not bear out: the effect changes during "
    "the study"
)


def veto(
    comparison: Comparison,
    series: Series,
    decision: Decision,
    readings: Readings,
    margin_log: float,
) -> str | None:
    """The gravest reason why a decision must not be announced."""
    pair = comparison.pair
    return (
        doubtful(pair, series, readings, margin_log)
        or turned(series, decision, margin_log)
        or coarse(series, decision, margin_log)
        or saturated(pair, series, readings, decision.words)
        or owed_to(pair, series, readings, decision.words)
        or _fragile(comparison, series, decision, readings, margin_log)
        or _owed_to_the_visit_before(comparison, series, decision, readings, margin_log)
    )


def doubtful(pair: Pair, series: Series, readings: Readings, margin_log: float) -> str | None:
    """What forbids to say anything of these visits, whatever was asked of them."""
    return (
        readings.distrusted
        or refused(pair, readings)
        or left_behind(series, margin_log)
        or disturbed(pair, series, readings)
        or unstable(series)
    )


def of_visits(series: Series, decision: Decision, margin_log: float) -> str | None:
    """What the visits themselves say against a decision, whoever measured them."""
    return (
        left_behind(series, margin_log)
        or unstable(series)
        or turned(series, decision, margin_log)
        or coarse(series, decision, margin_log)
    )


def refused(pair: Pair, readings: Readings) -> str | None:
    """More than a tenth of what was measured is invalid: the machine cannot carry this study."""
    counts = readings.invalid(pair)
    invalid = sum(count for count, _ in counts.values())
    measured = sum(of for _, of in counts.values())
    if invalid <= max(FEW_INVALID, MOST_INVALID * measured):
        return None
    return (
        f"refused: {invalid} of {measured} measured trials were invalid, more than "
        f"{MOST_INVALID:.0%}; find what disturbs them"
    )


def kept_invalid(comparison: Comparison, readings: Readings) -> str | None:
    """Invalid trials that are not blind to the system: leaving them out would favour one."""
    pair = comparison.pair
    one, another = readings.invalid(pair).values()
    if not counts_differ(one, another):
        return None
    return (
        f"trials are invalid unequally ({one[0]} of {one[1]} of {pair.baseline}, {another[0]} of "
        f"{another[1]} of {pair.other}), so they were not left out"
    )


def left_behind(series: Series, margin_log: float) -> str | None:
    """Visits that depend on the system of the visit before."""
    known = series.defined()
    left = carry_over(known.values, known.other, known.slots, known.before)
    if left is None or not left.vetoes(margin_log):
        return None
    return left.reason


def unstable(series: Series) -> str | None:
    """An effect that is clear in both halves of the visits, with opposite signs."""
    known = series.defined()
    effects = halves(known.values, known.other)
    found = estimate(known.values, known.other)
    if found is None or effects is None:
        return None
    first, second = effects
    error = 2 * found.noise_log / math.sqrt(len(known.visits) / 2)
    if first * second < 0 and min(abs(first), abs(second)) > _CLEAR_SES * error:
        return UNSTABLE
    return None


def turned(series: Series, decision: Decision, margin_log: float) -> str | None:
    """A decision of an earlier look that all visits together no longer bear out."""
    known = series.defined()
    found = estimate(known.values, known.other)
    if found is None:
        return None
    effect_log, words = found.ratio_log, decision.words
    against = (
        (VerdictWord.FASTER in words and effect_log < 0)
        or (VerdictWord.SLOWER in words and effect_log > 0)
        or (words == (VerdictWord.EQUIVALENT,) and abs(effect_log) > margin_log)
    )
    return TURNED if against else None


def coarse(series: Series, decision: Decision, margin_log: float) -> str | None:
    """*Equivalent* of figures that could not have shown a difference of the margin.

    One arm reads the same every time, and the next figure that was ever read lies farther away
    than the margin: what lies between is not seen.
    """
    known = series.defined()
    arms = known.values[known.other], known.values[~known.other]
    if VerdictWord.EQUIVALENT not in decision.words or not any(map(is_constant, arms)):
        return None
    steps = np.diff(np.unique(known.values))
    steps = steps[steps > _ROUNDING_LOG]
    if not len(steps) or steps.min() <= margin_log:
        return None
    return (
        f"the response is read in steps of {100 * math.expm1(steps.min()):.2g} %, wider than the "
        "margin, and one system shows a single figure: a difference within a step is not seen"
    )


def _fragile(
    comparison: Comparison,
    series: Series,
    decision: Decision,
    readings: Readings,
    margin_log: float,
) -> str | None:
    """A decision that rests on leaving out failed attempts."""
    if comparison.scale != "log":
        return None
    kept = readings.series(
        comparison.pair, comparison.response, comparison.conditions, keep_failed=True
    )
    if kept.visits == series.visits and (kept.values == series.values).all():
        return None
    stream = stream_of(kept, readings, comparison.pair, comparison.paths)
    if decide(stream, margin_log, comparison.share).words == decision.words:
        return None
    return "fragile: with the failed attempts kept, the verdict would be another"


def _owed_to_the_visit_before(
    comparison: Comparison,
    series: Series,
    decision: Decision,
    readings: Readings,
    margin_log: float,
) -> str | None:
    """A decision that would be another with as much taken out as the visit before may leave.

    Asked only where that shows, and where it can be taken out of a logarithm.
    """
    if comparison.scale != "log":
        return None

    def again(values: Floats) -> Decision:
        known = replace(series.defined(), values=values)
        stream = stream_of(known, readings, comparison.pair, comparison.paths)
        return decide(stream, margin_log, comparison.share)

    return owed_to_the_visit_before(series, decision, again)


def owed_to_the_visit_before(
    series: Series, decision: Decision, again: Callable[[Floats], Decision]
) -> str | None:
    """The same of any series of logarithms; ``again`` decides on other values of its visits.

    Of several systems it is not known which leaves it: whichever it is, the decision must hold.
    """
    known = series.defined()
    left = carry_over(known.values, known.other, known.slots, known.before)
    if left is None or not left.shows:
        return None
    most = max(left.low_log, left.high_log, key=abs)
    if all(again(known.values - most * led).words == decision.words for led in _led_by(known)):
        return None
    return "the verdict may be owed to what a visit leaves behind for the next: see below"


def _led_by(series: Series) -> list[Floats]:
    """For each system that may leave something: 1 for the visits that came after one of it."""
    if series.before:
        names = sorted({name for name in series.before if name is not None})
        return [np.array([float(each == name) for each in series.before]) for name in names]
    place = {slot: index for index, slot in enumerate(series.slots)}
    after = [slot - 1 in place and series.other[place[slot - 1]] for slot in series.slots]
    return [np.array(after, dtype=np.float64)]
