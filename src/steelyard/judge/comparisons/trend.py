"""The low-frequency trend of a comparison, as it was removed before its visits were weighed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from steelyard.inference.noise.detrend import movements
from steelyard.inference.weights import adjusted, trends
from steelyard.judge.comparisons.comparison import Judged
from steelyard.judge.findings import TrendFinding


def trend_findings(judged: Sequence[Judged]) -> Iterator[TrendFinding]:
    """One for each comparison with visits enough for a trend to be removed."""
    for each in judged:
        found = _trend(each)
        if found is not None:
            yield found


def _trend(judged: Judged) -> TrendFinding | None:
    series, size = judged.series, judged.estimate()
    visits = len(series.values)
    if size is None or judged.tests is None or judged.tests.stream.once or not movements(visits):
        return None
    residuals = (series.values - size.ratio_log * series.other)[np.newaxis, :]
    covariate = judged.tests.stream.covariate
    rows = residuals if covariate is None else adjusted(residuals, covariate)
    sign = -1 if judged.comparison.response.direction == "lower" else 1
    return TrendFinding(
        response=judged.comparison.response.name,
        baseline=judged.comparison.pair.baseline,
        other=judged.comparison.pair.other,
        trends=movements(visits),
        visits=series.visits,
        trend_log=tuple(float(value) for value in sign * trends(rows)[0]),
    )
