"""After which visits there is a look, and how much of the error rate may have been spent by it."""

from __future__ import annotations

import math
from bisect import bisect_right
from functools import lru_cache

FIRST_LOOK = 8
"""Visits at the first look: with fewer, there are too few orders for any verdict at 5 %."""

EVERY_UNTIL = 50
"""There is a look after each of so many visits, later whenever they have grown by a fiftieth.

What a look costs grows with the visits: a trial would cost more the longer a run is.
"""

SHORTEST_HORIZON = 12
"""A shorter budget spends as if it were this long."""

_FIRST_SHARE = 0.36
_BUDGET_SHARE = 0.9
_SECOND_FIRST_SHARE = 0.15
_SECOND_BUDGET_SHARE = 0.8


def next_look(visits: int) -> int:
    """The visits at the look after that of so many."""
    return visits + max(1, visits // EVERY_UNTIL)


def last_look(visits: int) -> int:
    """The visits at the last look by then, of those that do not depend on a budget."""
    found = min(visits, EVERY_UNTIL)
    while found >= EVERY_UNTIL and next_look(found) <= visits:
        found = next_look(found)
    return found


def looks_until(visits: int, horizon: int) -> tuple[int, ...]:
    """The visits at each look of a comparison by then; one of them is at its budget."""
    every = _looks(horizon)
    return every[: bisect_right(every, visits)]


@lru_cache(maxsize=64)
def _looks(horizon: int) -> tuple[int, ...]:
    """Those that may spend something: up to the extended budget."""
    horizon = max(horizon, SHORTEST_HORIZON)
    found, look = {horizon, 2 * horizon}, FIRST_LOOK
    while look < 2 * horizon:
        found.add(look)
        look = next_look(look)
    return tuple(sorted(found))


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
