"""The size of an effect and of the noise, by the weights of the re-randomisation test."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from steelyard.inference.noise.robust import Floats, Mask, mad_sd
from steelyard.inference.probability.distributions import normal_bound
from steelyard.inference.weights import adjusted, weights

_SCAN_SES = 6.0
_SCAN_POINTS = 121
_SEQUENTIAL_FACTOR = 1.5
_LONGEST_FORECAST = 10_000


@dataclass(frozen=True)
class Estimate:
    """A ratio (natural logarithm), its standard error, and the noise of one visit."""

    ratio_log: float
    standard_error_log: float
    noise_log: float


def raw_ratio_log(values: Floats, other: Mask) -> float:
    """The ratio of the geometric means as measured: nothing is weighed, nothing removed."""
    defined = np.isfinite(values)
    return float(values[other & defined].mean() - values[~other & defined].mean())


def estimate(
    values: Floats,
    other: Mask,
    *,
    whiten: bool = True,
    covariate: Floats | None = None,
) -> Estimate | None:
    """The ratio at which the observed order is neither high nor low; ``None`` without both arms.

    The Hodges-Lehmann ratio (1963) by the statistic of the test, so that drift and stalls weigh on
    the estimate no more than on the decision. The search starts at the median of the differences
    between the arms, which is the answer where it finds nothing better.
    """
    defined = np.isfinite(values)
    one, another = values[other & defined], values[~other & defined]
    if not len(one) or not len(another):
        return None
    start = float(np.median(np.subtract.outer(one, another)))
    residuals = values - start * other
    noise = _robust_sd(residuals[defined])
    rough = 2 * noise / math.sqrt(len(values))
    if rough == 0 or len(values) < 4:
        return Estimate(start, rough, noise)
    shifts = start + rough * np.linspace(-_SCAN_SES, _SCAN_SES, _SCAN_POINTS)
    rows = values - np.multiply.outer(shifts, other)
    rows = rows if covariate is None else adjusted(rows, covariate)
    weighed = weights(rows, whiten=whiten)
    heights = weighed @ np.where(other, 1.0, -1.0)
    ratio = _nearest_root(shifts, heights, start)
    nearest = int(np.argmin(np.abs(shifts - ratio)))
    slope = _slope(shifts, heights, nearest)
    sd = float(np.sqrt(np.sum(weighed[nearest] ** 2)))
    return Estimate(ratio, sd / slope if slope > 0 else rough, noise)


def visits_to_decide(found: Estimate, visits: int, margin_log: float, alpha: float) -> int | None:
    """About how many further visits would bring some verdict; ``None`` when none is in sight.

    The half-width of the interval shrinks with the root of the visits; a verdict comes when it
    is smaller than the distance of the effect from 0, or from the margin for equivalence. The
    boundary of the sequential test is taken as half as high again as that of a fixed number.
    """
    size = abs(found.ratio_log)
    aims = [(size, alpha / 2), (margin_log - size, alpha)]
    needed = [
        visits
        * (_SEQUENTIAL_FACTOR * float(normal_bound(tail)) * found.standard_error_log / gap) ** 2
        for gap, tail in aims
        if gap > 0
    ]
    if not needed or min(needed) - visits > _LONGEST_FORECAST:
        return None
    return max(1, math.ceil(min(needed) - visits))


def _robust_sd(values: Floats) -> float:
    spread = mad_sd(values)
    return spread if spread > 0 else float(np.std(values))


def _nearest_root(shifts: Floats, heights: Floats, start: float) -> float:
    """Where the statistic falls through 0, by straight lines; the crossing nearest to start."""
    falls = np.flatnonzero((heights[:-1] >= 0) & (heights[1:] < 0))
    if not len(falls):
        return start
    drop = heights[falls] - heights[falls + 1]
    roots = shifts[falls] + (shifts[falls + 1] - shifts[falls]) * heights[falls] / drop
    return float(roots[np.argmin(np.abs(roots - start))])


def _slope(shifts: Floats, heights: Floats, at: int) -> float:
    """How fast the statistic falls around one point, over a standard error or so."""
    low, high = max(0, at - 10), min(len(shifts) - 1, at + 10)
    return float((heights[low] - heights[high]) / (shifts[high] - shifts[low]))
