"""How much of the error rate may have been spent by each look."""

from __future__ import annotations

import math

FIRST_LOOK = 8
"""Visits at the first look: with fewer, the coin has too few orders for any verdict at 5 %."""

SHORTEST_HORIZON = 12
"""A shorter budget spends as if it were this long."""

_FLOOR_SHARE = 0.36
_BUDGET_SHARE = 0.9
_FIRST_SHARE = 0.15


def spent(visits: int, horizon: int, alpha: float) -> float:
    """The part of ``alpha`` that the looks up to this one may use together.

    Nine tenths are spent along the logarithm of the visits up to the budgeted ``horizon``, with
    a floor so that large effects show at the first looks; a tenth is kept for one extension to
    at most twice the horizon, so that a budget can be extended honestly.
    """
    horizon = max(horizon, SHORTEST_HORIZON)
    origin = FIRST_LOOK - 1
    if visits <= horizon:
        share = math.log(visits / origin) / math.log(horizon / origin)
        return alpha * max(_FLOOR_SHARE, _BUDGET_SHARE * share)
    extension = min(math.log(visits / horizon) / math.log(2), 1.0)
    return alpha * (_BUDGET_SHARE + (1 - _BUDGET_SHARE) * extension)


def spent_evenly(visits: int, horizon: int, alpha: float) -> float:
    """The same for tests whose statistic is continuous: something is left at every look.

    The floor of ``spent`` leaves nothing between the first look and the twentieth, which costs
    the exact test little, as few orders among eight visits are rare enough to use it up.
    """
    horizon = max(horizon, SHORTEST_HORIZON)
    if visits <= horizon:
        share = math.log(visits / FIRST_LOOK) / math.log(horizon / FIRST_LOOK)
        return alpha * (_FIRST_SHARE + (_BUDGET_SHARE - _FIRST_SHARE) * share)
    return spent(visits, horizon, alpha)
