"""A bound on the difference of two means of what counts events, such as the share that failed.

The tests of ratios look at the typical visit. Where failures come in clusters most visits have
fewer than the mean, and what an operation risks is the mean.
"""

from __future__ import annotations

import math

from steelyard.inference.noise.robust import Floats
from steelyard.inference.probability.distributions import t_bound


def mean_is_above(values: Floats, others: Floats, shift: float, level: float) -> bool:
    """Whether it is shown that the mean of ``values`` is above that of ``others`` and ``shift``.

    One-sided at ``level``, by Welch's test, no visit clipped, with the variance that ``values``
    would have if their mean were just there: that of counts, however they cluster, is in
    proportion to their mean, so that few failures by luck do not make their mean look certain.
    The factor is the mean of both systems' (``docs/decisions/``). ``False`` of less than two
    visits on one side, or without a level.
    """
    if min(len(values), len(others)) < 2 or level <= 0:
        return False
    bound = float(others.mean()) + shift
    factor = (_factor(values) * len(values) + _factor(others) * len(others)) / (
        len(values) + len(others)
    )
    parts = [
        max(float(values.var(ddof=1)), factor * abs(bound)) / len(values),
        float(others.var(ddof=1)) / len(others),
    ]
    variance, beyond = sum(parts), float(values.mean()) - bound
    if variance == 0:
        return beyond > 0
    freedom = variance**2 / (parts[0] ** 2 / (len(values) - 1) + parts[1] ** 2 / (len(others) - 1))
    return beyond > float(t_bound(level, freedom)) * math.sqrt(variance)


def _factor(values: Floats) -> float:
    """Variance of a count in units of its mean; 0 where nothing was counted."""
    mean = abs(float(values.mean()))
    return float(values.var(ddof=1)) / mean if mean else 0.0
