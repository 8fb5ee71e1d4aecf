"""What must be read beside a verdict: the notes on one comparison, as sentences."""

from __future__ import annotations

import math
from collections.abc import Iterator

from steelyard.inference.diagnostics import SPREAD_LIMIT, Shape, carry_over
from steelyard.inference.estimate import Estimate, visits_to_decide
from steelyard.inference.spending import FIRST_LOOK
from steelyard.inference.verdict_word import VerdictWord
from steelyard.judge.families import Comparison
from steelyard.judge.guardrails import Guarded
from steelyard.judge.series import Series

_EXAGGERATED_BELOW_SDS = 2.5
_TWO_DIGITS = 10
NO_RATIO = "no constant ratio fits all visits: the effect changes during the study"
_HELD_BY_THE_SECOND = (
    ". With unequal spreads the error rate is held by the second test (Welch's), which was "
    "simulated to 4 to 1 and is not proved for any noise"
)
_RESTS_ON_THE_SECOND = ", so that the error rate rests on the second test alone (Welch's)"
_DIFFERENCES = (VerdictWord.FASTER, VerdictWord.SLOWER)


def notes_on(
    comparison: Comparison,
    series: Series,
    *,
    words: tuple[VerdictWord, ...],
    veto: str | None,
    guards: tuple[Guarded, ...] = (),
    kept: str | None = None,
    horizon: int | None,
    two_tests: bool = True,
    found: Estimate | None,
    shape: Shape,
    margin_log: float,
    empty: bool,
) -> tuple[str, ...]:
    """Reasons and doubts, the gravest first. ``two_tests``: Welch's stands beside the exact one."""
    if series.problems:
        return series.problems
    notes = [] if veto is None else [veto]
    notes += [] if kept is None else [kept]
    notes += _undefined(comparison, series)
    notes += _not_guarded(guards)
    notes += _too_few(series)
    if empty and veto != NO_RATIO:
        notes.append(NO_RATIO)
    notes += _shape(shape, series, two_tests=two_tests)
    notes += _left_behind(series, margin_log, said=veto)
    notes += _beyond_the_machine(comparison, words, found, margin_log, horizon)
    notes += _stopped_early(series, words, horizon, found)
    return tuple(notes)


def _undefined(comparison: Comparison, series: Series) -> Iterator[str]:
    """Visits beyond all values, of which there is a rank and no ratio."""
    of_baseline, of_other = series.n_undefined
    if of_baseline or of_other:
        pair = comparison.pair
        yield (
            f"{comparison.response.label} is undefined in {of_baseline} of {series.n_baseline} "
            f"visits of {pair.baseline} and {of_other} of {series.n_other} of {pair.other}, "
            "because too many operations failed: these rank last, and the size is that of the "
            "others"
        )


def _not_guarded(guards: tuple[Guarded, ...]) -> Iterator[str]:
    for guard in guards:
        if guard.state == "not_measured" and not guard.spec.declared:
            yield f"whether {guard.spec.label} is worse was not checked: {guard.why}"


def _too_few(series: Series) -> Iterator[str]:
    count = len(series.visits)
    if count < FIRST_LOOK:
        noun = "visit" if count == 1 else "visits"
        yield (
            f"{count} valid {noun}: the coin allows no verdict at this error rate before "
            f"{FIRST_LOOK}, so no interval is given"
        )


def _shape(shape: Shape, series: Series, *, two_tests: bool) -> Iterator[str]:
    ratio, chance = shape.spread_ratio, shape.spread_chance
    if ratio is not None and not 1 / SPREAD_LIMIT <= ratio <= SPREAD_LIMIT:
        by_chance = "" if chance is None else f"; by chance alone with probability {chance:.2g}"
        yield (
            f"arms differ in shape: the spread of one is {max(ratio, 1 / ratio):.1f} times that "
            f"of the other over {series.n_baseline} and {series.n_other} visits{by_chance}"
            f"{_HELD_BY_THE_SECOND if two_tests else ''}"
        )
    if shape.one_is_constant:
        rests = _RESTS_ON_THE_SECOND if two_tests else ""
        yield (
            f"arms differ in shape: over {series.n_baseline} and {series.n_other} visits one does "
            f"not vary at all and the other does{rests}; is the constant one counted in coarse "
            "steps?"
        )
    if shape.stalls_differ:
        yield (
            f"arms differ in shape: {shape.stall_rate_baseline:.0%} of the visits of one and "
            f"{shape.stall_rate_other:.0%} of the other stall, so that the ratio is that of the "
            "typical visit, and which visits are typical is not the same in both"
        )


def _left_behind(series: Series, margin_log: float, *, said: str | None) -> Iterator[str]:
    """What the visit before seems to leave, also while nothing is decided that it would forbid."""
    known = series.defined()
    left = carry_over(known.values, known.other, known.slots, known.before)
    if left is None or not left.shows:
        return
    if not left.vetoes(margin_log):
        yield (
            "a visit seems to depend on the system of the visit before it "
            f"({left.low_log:+.3f}..{left.high_log:+.3f} in logarithms); a warning, as it may be "
            "within half the margin"
        )
    elif said != left.reason:
        yield left.reason


def _beyond_the_machine(
    comparison: Comparison,
    words: tuple[VerdictWord, ...],
    found: Estimate | None,
    margin_log: float,
    horizon: int | None,
) -> Iterator[str]:
    """A margin that no budget of this size can reach with this noise."""
    if words or found is None or horizon is None or not found.standard_error_log:
        return
    equal = Estimate(0.0, found.noise_log * 2 / math.sqrt(horizon), found.noise_log)
    more = visits_to_decide(equal, horizon, margin_log, comparison.share)
    if more is None or more > horizon:
        yield (
            f"a margin of {_percent(margin_log)} lies below what this machine resolves in "
            f"{horizon} visits: one visit varies by {_percent(found.noise_log)}"
        )


def _percent(log: float) -> str:
    """Two digits, or all before the point: ``1.3 %``, ``150 %``."""
    size = 100 * math.expm1(log)
    return f"{size:.0f} %" if size >= _TWO_DIGITS else f"{size:.2g} %"


def _stopped_early(
    series: Series, words: tuple[VerdictWord, ...], horizon: int | None, found: Estimate | None
) -> Iterator[str]:
    if horizon is None or found is None or len(series.visits) >= horizon:
        return
    small = abs(found.ratio_log) < _EXAGGERATED_BELOW_SDS * found.noise_log
    if small and any(word in _DIFFERENCES for word in words):
        yield "early stops overstate small effects: trust the interval before the point"
