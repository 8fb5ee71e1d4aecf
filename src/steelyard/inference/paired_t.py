"""A sequential t test on pairs of visits, for who accepts its assumption.

Each pair of visits holds both systems in random order; its difference is one number, and a drift
slower than a pair cancels in it. The boundary is that of independent normal differences. It
decides from the fifth pair on. Fast, and not exact: see ``docs/methods/judge.md``.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from steelyard.inference.estimate import Estimate
from steelyard.inference.robust import Floats, Mask
from steelyard.inference.spending import FIRST_LOOK
from steelyard.plan.order import generator

FIRST_PAIRS = 5
"""With fewer, equal differences by luck make t infinite too often: 6 % wrong with 3 or 4."""

_STUDIES = 200_000
_SEED = 0


def contrasts(values: Floats, other: Mask) -> Floats:
    """Other less baseline in each pair of visits; a last visit without its partner is left out."""
    count = len(values) // 2
    signed = np.where(other, values, -values)[: 2 * count]
    return np.asarray(signed.reshape(count, 2).sum(axis=1))


@lru_cache(maxsize=32)
def boundary(last: int, alpha: float) -> Floats:
    """What t must exceed after each pair from the 5th to the ``last``, on one side.

    Spends ``alpha ln(n/4) / ln(last/4)`` by the n-th pair. Simulated, with a seed of its own:
    200,000 studies of normal differences, both sides of each.
    """
    random = generator(_SEED, "normal-boundary")
    sums, squares = np.zeros(_STUDIES), np.zeros(_STUDIES)
    alive = np.ones(_STUDIES, dtype=np.bool_)
    found = []
    for count in range(1, max(last, FIRST_PAIRS) + 1):
        step = random.standard_normal(_STUDIES)
        sums += step
        squares += step**2
        if count < FIRST_PAIRS:
            continue
        spread = np.sqrt((squares - sums**2 / count) / (count - 1))
        heights = np.abs(sums) / (math.sqrt(count) * spread)
        spent = 2 * alpha * _share(count, last) * _STUDIES
        leaving = int(spent) - int((~alive).sum())
        limit = float(np.partition(heights[alive], -leaving - 1)[-leaving - 1])
        alive &= heights <= limit
        found.append(limit)
    return np.array(found)


def _share(pairs: int, last: int) -> float:
    before = FIRST_PAIRS - 1
    return math.log(pairs / before) / math.log(max(last, FIRST_PAIRS) / before)


def estimate(values: Floats, other: Mask) -> Estimate | None:
    """The mean difference within pairs; ``None`` of fewer than two."""
    differences = contrasts(values, other)
    if len(differences) < 2:
        return None
    spread = float(differences.std(ddof=1))
    error = spread / math.sqrt(len(differences))
    return Estimate(float(differences.mean()), error, spread / math.sqrt(2))


def rejected_below(values: Floats, other: Mask, horizon: int, alpha: float) -> Floats:
    """The ratio below which all are rejected, after each visit from the 8th; -inf without any.

    Shape (looks,), never falling. Nothing is rejected beyond the budget of ``horizon`` visits.
    """
    limits = boundary(horizon // 2, alpha)
    differences = contrasts(values, other)
    found = np.full(len(values) + 1 - FIRST_LOOK, -math.inf)
    for count in range(FIRST_PAIRS, min(len(differences), horizon // 2) + 1):
        known = differences[:count]
        error = float(known.std(ddof=1)) / math.sqrt(count)
        low = float(known.mean()) - float(limits[count - FIRST_PAIRS]) * error
        found[2 * count - FIRST_LOOK :] = np.maximum(found[2 * count - FIRST_LOOK :], low)
    return found
