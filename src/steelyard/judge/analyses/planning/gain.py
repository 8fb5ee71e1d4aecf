"""What the canary has gained as a covariate: the same interval once more without it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from steelyard.inference.confidence import Stream, Tested, high_end, low_end
from steelyard.inference.covariates import asked_columns
from steelyard.inference.estimate import estimate_of
from steelyard.judge.analyses.planning.findings import CovariateFinding
from steelyard.judge.comparison import Judged


def covariate_findings(judged: Iterable[Judged], margin_log: float) -> Iterator[CovariateFinding]:
    """One finding for each comparison that was judged beside a canary."""
    for each in judged:
        stream = each.stream
        if stream is None or stream.covariate is None:
            continue
        without = replace(stream, covariate=None, tested=Tested())
        share = each.comparison.share
        yield CovariateFinding(
            response=each.comparison.response.name,
            baseline=each.comparison.pair.baseline,
            other=each.comparison.pair.other,
            parts=each.series.parts[: asked_columns(len(stream.values))],
            interval_level=1 - share,
            width_log=_width(stream, margin_log, share),
            width_without_log=_width(without, margin_log, share),
        )


def _width(stream: Stream, margin_log: float, share: float) -> float | None:
    found = estimate_of(stream)
    if found is None:
        return None
    low = low_end(stream, margin_log, share / 2, found.ratio_log)
    high = high_end(stream, margin_log, share / 2, found.ratio_log)
    return None if low is None or high is None or low > high else high - low
