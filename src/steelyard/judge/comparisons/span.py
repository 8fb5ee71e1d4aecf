"""Whether the visits of a decision lie within as much time as the study asks for.

Something slow that affects one system alone makes the systems differ for as long as it lasts, and
no order of visits tells that from an effect. A study may therefore ask for a span of time. Before
it has passed nothing is decided; then all visits of the span have to bear the decision by
themselves, because what the tests have rejected earlier they keep rejected.
"""

from __future__ import annotations

from steelyard.inference.ratio_tests import Inference
from steelyard.inference.sequential import Decision, VerdictWord
from steelyard.judge.comparisons.families import Comparison
from steelyard.judge.kinds.verdict_notes import SpanDisagrees, SpanTooShort
from steelyard.judge.visits.series import Series, Visits


def too_short(
    least_s: float | None, visits: tuple[int, ...], readings: Visits
) -> SpanTooShort | None:
    """Visits that lie within less than ``least_s``."""
    if least_s is None or not visits:
        return None
    span_s = readings.span_s(visits[0], visits[-1]) or 0.0
    return SpanTooShort(span_s=span_s, least_s=least_s) if span_s < least_s else None


def disagrees(
    comparison: Comparison, series: Series, decision: Decision, readings: Visits, margin_log: float
) -> SpanDisagrees | None:
    """A decision that Welch's test of the present look does not make by itself."""
    if comparison.span_s is None:
        return None
    tests = readings.tests(series, comparison.pair, exploratory=comparison.exploratory)
    if all(holds_now(word, tests, margin_log, comparison.share) for word in decision.words):
        return None
    return SpanDisagrees(span_s=readings.span_s(series.visits[0], series.visits[-1]) or 0.0)


def holds_now(word: VerdictWord, tests: Inference, margin_log: float, share: float) -> bool:
    """Whether Welch's test of the present look alone rejects all that contradicts the word."""
    if word is VerdictWord.FASTER:
        return tests.excludes_now(0.0, share / 2)
    if word is VerdictWord.SLOWER:
        return tests.mirrored.excludes_now(0.0, share / 2)
    sides = (tests, tests.mirrored)
    return all(side.excludes_now(-margin_log, share) for side in sides)
