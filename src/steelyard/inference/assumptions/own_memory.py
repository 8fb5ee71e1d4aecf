"""Whether visits remember their own system: dependence within an arm beyond that between the arms.

The tests take noise to be the same whoever is visited. If something slow affects one system alone,
visits of that system resemble each other more than those of the other system in between do; then
the arms differ for as long as the study takes, and no other order of visits brings that about.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from steelyard.inference.exact import Pool
from steelyard.inference.noise.robust import Floats, Mask
from steelyard.inference.weights import scores

LAGS = 6
"""Visits at most between the two of a pair that is looked at."""

_PATHS = 2_000
_LEVEL = 0.05
_LEAST_VISITS = 12


@dataclass(frozen=True)
class OwnMemory:
    """Correlations of visits at most ``LAGS`` apart: of each system, and of one with the other.

    ``chance``: the share of random orders in which those of the same system exceed the others by
    as much.
    """

    baseline: float
    other: float
    between: float
    chance: float

    @property
    def shows(self) -> bool:
        return self.chance < _LEVEL


def own_memory(values: Floats, pool: Pool, ratio_log: float) -> OwnMemory | None:
    """By the orders of a ``pool``; ``None`` of too few visits."""
    other = pool.observed > 0
    # with its trends: those of one arm, taken out of both, would be in the other arm as well
    rest = scores((values - ratio_log * other)[np.newaxis])[0]
    arms = [rest[~other], rest[other]]
    if len(values) < _LEAST_VISITS or not all(arm.any() for arm in arms):
        return None
    signs = pool.side_by_side(_PATHS + 1)
    excess = sum(
        (rest[lag:] * rest[:-lag]) @ (signs[lag:] * signs[:-lag]) for lag in range(1, LAGS + 1)
    )
    return OwnMemory(
        baseline=_correlation(rest, ~other, ~other),
        other=_correlation(rest, other, other),
        between=_correlation(rest, other, ~other),
        chance=float(np.mean(excess >= excess[0])),
    )


def _correlation(rest: Floats, one: Mask, another: Mask) -> float:
    """Of visits of one with those of another that are near."""
    products: list[Floats] = []
    for lag in range(1, LAGS + 1):
        near = (one[lag:] & another[:-lag]) | (another[lag:] & one[:-lag])
        products.append((rest[lag:] * rest[:-lag])[near])
    size = math.sqrt(float(np.mean(rest[one] ** 2) * np.mean(rest[another] ** 2)))
    return float(np.mean(np.concatenate(products))) / size
