"""How far apart the smallest and the largest of several equal means lie, by their estimated spread.

Source of the law: Tukey, "The problem of multiple comparisons" (1953). The range is integrated on
a grid that is the same for all spreads, so that one table of it serves every quantile.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from steelyard.inference.noise.robust import Floats
from steelyard.inference.probability.distributions import normal_above, normal_density

_WIDEST, _STEP = 16.0, 0.005
_PLACE_STEP, _REACH_SDS = 0.15, 9.0
_LARGEST_DF = 20_000
_EXACT = 1e-9


def range_quantile(share: float, means: int, df: int) -> float:
    """What the studentised range of so many means stays below with this probability.

    From 20,000 degrees of freedom on it is that of 20,000, larger by less than 0.02 %.
    """
    table, freedom = _ranges(means), min(df, _LARGEST_DF)
    low, high = 0.0, 1.0
    while _above(high, table, freedom) > 1 - share:
        low, high = high, 2 * high
    while high - low > _EXACT * high:
        middle = (low + high) / 2
        above = _above(middle, table, freedom) > 1 - share
        low, high = (middle, high) if above else (low, middle)
    return high


@lru_cache(maxsize=16)
def _ranges(means: int) -> tuple[Floats, Floats]:
    """Ranges of so many normal variables, and the probability of a wider one of each."""
    ranges = np.arange(0.0, _WIDEST + _STEP / 2, _STEP)
    places = np.arange(-_REACH_SDS, _REACH_SDS + _WIDEST, _PLACE_STEP)
    # The largest is at a place, all others within the range below it.
    inside = normal_above(places[None, :] - ranges[:, None]) - normal_above(places)
    narrower = means * (normal_density(places) * inside ** (means - 1)).sum(axis=1) * _PLACE_STEP
    return ranges, np.clip(1 - narrower, 0.0, 1.0)


def _above(quantile: float, table: tuple[Floats, Floats], df: int) -> float:
    """The mean of the table over the law of the estimated spread, by Simpson's rule."""
    ranges, wider = table
    spread = ranges / quantile
    logs = math.log(2) + df / 2 * math.log(df / 2) - math.lgamma(df / 2) - df * spread**2 / 2
    if df > 1:
        with np.errstate(divide="ignore"):
            logs += (df - 1) * np.log(spread)
    weights = np.full(len(ranges), 2.0)
    weights[1::2] = 4.0
    weights[[0, -1]] = 1.0
    return float((weights * np.exp(logs) * wider).sum() * _STEP / 3 / quantile)
