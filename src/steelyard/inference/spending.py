"""How much of the error rate may have been spent by each look."""

from __future__ import annotations

import math

FIRST_LOOK = 8
"""Visits at the first look: with fewer, there are too few orders for any verdict at 5 %."""

SHORTEST_HORIZON = 12
"""A shorter budget spends as if it were this long."""

_FIRST_SHARE = 0.36
_BUDGET_SHARE = 0.9
_SECOND_FIRST_SHARE = 0.15
_SECOND_BUDGET_SHARE = 0.8


def spent(visits: int, horizon: int, alpha: float) -> float:
    """The part of ``alpha`` that the looks up to this one may use together.

    More than a third at the first look, so that large effects show there; up to nine tenths
    along the logarithm of the visits until the budgeted ``horizon``, with something left at
    every look; a tenth is kept for one extension to at most twice the horizon, so that a budget
    can be extended honestly.
    """
    return _spent(visits, horizon, alpha, (_FIRST_SHARE, _BUDGET_SHARE))


def spent_by_second(visits: int, horizon: int, alpha: float) -> float:
    """The same for the Welch test, whose statistic is continuous: it spends less at first.

    The exact test can use up only what few orders among eight visits are rare enough for. By the
    budget it may spend less as well: it is approximate, and beside skewed or autocorrelated
    noise errs by up to a fifth more often than it was allowed to.
    """
    return _spent(visits, horizon, alpha, (_SECOND_FIRST_SHARE, _SECOND_BUDGET_SHARE))


def _spent(visits: int, horizon: int, alpha: float, shares: tuple[float, float]) -> float:
    """``shares`` of ``alpha``: those at the first look and by the budget."""
    first, by_budget = shares
    horizon = max(horizon, SHORTEST_HORIZON)
    if visits <= horizon:
        way = math.log(visits / FIRST_LOOK) / math.log(horizon / FIRST_LOOK)
        return alpha * (first + (by_budget - first) * way)
    extension = min(math.log(visits / horizon) / math.log(2), 1.0)
    return alpha * (by_budget + (1 - by_budget) * extension)
