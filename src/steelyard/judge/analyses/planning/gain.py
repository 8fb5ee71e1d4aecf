"""What the reference kernel gains as a covariate: the same interval once more without it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from steelyard.inference.noise.covariates import asked_columns
from steelyard.inference.ratio_tests import Inference
from steelyard.judge.analyses.planning.findings import CovariateFinding
from steelyard.judge.comparisons.comparison import Judged


def covariate_findings(judged: Iterable[Judged], margin_log: float) -> Iterator[CovariateFinding]:
    """One finding for each comparison that was judged with a covariate."""
    for each in judged:
        if each.tests is None or each.tests.stream.covariate is None:
            continue
        stream = each.tests.stream
        without = Inference.of(replace(stream, covariate=None))
        share = each.comparison.share
        yield CovariateFinding(
            response=each.comparison.response.name,
            baseline=each.comparison.pair.baseline,
            other=each.comparison.pair.other,
            parts=each.series.parts[: asked_columns(len(stream.values))],
            interval_level=1 - share,
            width_log=_width(each.tests, margin_log, share),
            width_without_log=_width(without, margin_log, share),
        )


def _width(tests: Inference, margin_log: float, share: float) -> float | None:
    found = tests.estimate()
    if found is None:
        return None
    [((low, high), _)] = tests.sizes(margin_log, [share / 2], found.ratio_log)
    return None if low is None or high is None or low > high else high - low
