"""How rare a continuous statistic must be at each look, so that all looks together keep a rate.

Sums of independent normal steps, looked at repeatedly: the boundary that spends what the
spending function allows is found by adding the density of the sum forward on a grid (Armitage,
McPherson and Rowe, "Repeated significance tests on accumulating data", 1969). It is expressed as
the one-sided probability at that look, so that it can be asked of a t statistic as well.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from steelyard.inference.noise.robust import Floats
from steelyard.inference.probability.distributions import normal_above, normal_density
from steelyard.inference.spending import (
    FIRST_LOOK,
    SHORTEST_HORIZON,
    looks_until,
    spent_by_second,
)

_STEP = 0.1
_REACH_SDS = 7.0


@lru_cache(maxsize=64)
def levels(horizon: int, alpha: float, *, extended: bool = True) -> Floats:
    """The one-sided probability asked at each of the looks to the horizon.

    ``extended``: to twice the horizon.
    """
    last = 2 * max(horizon, SHORTEST_HORIZON)
    reach = _REACH_SDS * math.sqrt(last)
    sums = np.arange(-reach, reach + _STEP, _STEP)
    density = normal_density(sums / math.sqrt(FIRST_LOOK)) / math.sqrt(FIRST_LOOK)
    found, before, seen = [], 0.0, FIRST_LOOK
    for look in looks_until(last if extended else last // 2, horizon):
        if look > seen:
            density = np.convolve(density, _kernel(look - seen), mode="same")
            seen = look
        allowed = spent_by_second(look, horizon, alpha)
        boundary = _height_above(sums, density, allowed - before)
        before = allowed
        density = np.where(sums < boundary, density, 0.0)
        found.append(float(normal_above(boundary / math.sqrt(look))))
    return np.array(found)


@lru_cache(maxsize=64)
def _kernel(steps: int) -> Floats:
    """The density of the sum of so many steps, on the grid."""
    sd = math.sqrt(steps)
    reach = round(_REACH_SDS * sd / _STEP)
    places: Floats = np.linspace(-reach, reach, 2 * reach + 1) * _STEP
    return np.asarray(normal_density(np.asarray(places / sd, dtype=np.float64)) / sd * _STEP)


def _height_above(sums: Floats, density: Floats, share: float) -> float:
    """The sum above which ``share`` of the density lies; beyond the grid for a share of 0."""
    if share <= 0:
        return math.inf
    above = np.cumsum(density[::-1]) * _STEP
    at = int(np.searchsorted(above, share))
    inner = above[at - 1] if at else 0.0
    part = (share - inner) / (above[at] - inner)
    return float(sums[len(sums) - 1 - at] + _STEP * (0.5 - part))
