"""After how many visits a test by random orders can decide anything at all.

The exact test compares the order that was with all that might have been. Of few visits there are
few orders, so that the rarest of them is still more likely than what a comparison may spend of
the error rate: then no difference is reported, however large.
"""

from __future__ import annotations

import math
from functools import cache
from statistics import NormalDist

from steelyard.inference.randomisation import PATHS, Design
from steelyard.inference.spending import FIRST_LOOK, spent

LUCK = 3
"""Of simulated orders more or fewer than expected are the rarest: in standard deviations."""
POWER = 0.9
_FACTOR = 1.36
"""Times the difference that a test after a fixed number of visits finds: what looks cost."""
_LONGEST = 1_000
_FOURS = (1.0, 1 / 2, 1 / 6, 1 / 6)
"""Chance of the rarest beginning of a block of four, by how many of its visits there were."""
_WHOLE: dict[Design, int] = {"big_stick": 1, "pairs": 2, "blocks": 2, "double_blocks": 4}
"""Visits of a pair that a plan holds at a time."""


@cache
def first_decisive(design: Design, horizon: int, side: float, luck: int = LUCK) -> int | None:
    """The first look by which the rarest order is rarer than what ``side`` may have been spent.

    ``None``: not within the budget of ``horizon`` visits.
    """
    for look in range(FIRST_LOOK, horizon + 1):
        expected = PATHS * _rarest(design, look)
        if PATHS * spent(look, horizon, side) >= 1 + expected - luck * math.sqrt(expected):
            return look
    return None


def sufficient_budget(design: Design, side: float) -> int:
    """The smallest budget of a pair within which a difference can be decided."""
    budgets = range(FIRST_LOOK, _LONGEST, _WHOLE[design])
    return next((n for n in budgets if first_decisive(design, n, side, -LUCK)), _LONGEST)


def found_log(visits: int, noise_log: float, side: float, margin_log: float) -> float:
    """The difference of a pair, as a logarithm, found within so many visits in nine of ten runs.

    ``noise_log`` is the standard deviation of one visit. Never less than the margin: a run ends
    when a smaller difference is shown to be within it, before it is shown to be one.
    """
    error = 2 * noise_log / math.sqrt(visits)
    quantile = NormalDist().inv_cdf  # a plan does without SciPy, which is slow to load
    return max(margin_log, _FACTOR * (quantile(1 - side) + quantile(POWER)) * error)


def _rarest(design: Design, visits: int) -> float:
    """The chance of the rarest order of so many visits."""
    if design == "big_stick":  # every visit assigned freely: neither ever leads by 2
        return 2.0**-visits
    if design == "double_blocks":
        return 6.0 ** -(visits // 4) * _FOURS[visits % 4]
    return 2.0 ** -((visits + 1) // 2)
