"""Tails and bounds of distributions, computed from special functions.

Where ``tail`` is asked, it is the probability above the bound.
"""

from __future__ import annotations

import math

import numpy as np

from steelyard.inference.noise.robust import Floats
from steelyard.inference.probability import special

Numbers = Floats | float

_NORMAL_ABOVE = np.frompyfunc(special.normal_above, 1, 1)
_NORMAL_BOUND = np.frompyfunc(special.normal_bound, 1, 1)
_T_ABOVE = np.frompyfunc(special.t_above, 2, 1)
_T_BOUND = np.frompyfunc(special.t_bound, 2, 1)
_MANY = 64
_EXACT = 1e-14


def normal_density(x: Floats) -> Floats:
    return np.asarray(np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi))


def normal_above(x: Numbers) -> Floats:
    """Probability of more than ``x``."""
    return np.asarray(_NORMAL_ABOVE(np.asarray(x, dtype=np.float64)), dtype=np.float64)


def normal_bound(tail: Numbers) -> Floats:
    return np.asarray(_NORMAL_BOUND(np.asarray(tail, dtype=np.float64)), dtype=np.float64)


def t_above(x: Numbers, df: Numbers) -> Floats:
    """Probability of more than ``x`` in Student's law."""
    places, freedom = np.asarray(x, dtype=np.float64), np.asarray(df, dtype=np.float64)
    if places.size >= _MANY and freedom.size == 1:
        return special.t_above_many(places, float(freedom))
    return np.asarray(_T_ABOVE(places, freedom), dtype=np.float64)


def t_bound(tail: Numbers, df: Numbers) -> Floats:
    """Infinite where nothing may be above it."""
    asked, freedom = np.asarray(tail, dtype=np.float64), np.asarray(df, dtype=np.float64)
    return np.asarray(_T_BOUND(asked, freedom), dtype=np.float64)


def f_above(x: float, between: int, within: int) -> float:
    """Probability of more than ``x`` in Fisher's law of a ratio of mean squares."""
    if math.isinf(x):
        return 0.0
    whole = within + between * x
    return special.beta_below(within / whole, between * x / whole, within / 2, between / 2)


def f_quantile(share: float, between: int, within: int) -> float:
    """What ``share`` of all such ratios stay below, by bisection of its logarithm."""
    low, high = -300.0, 300.0
    while high - low > _EXACT:
        middle = (low + high) / 2
        above = f_above(math.exp(middle), between, within) > 1 - share
        low, high = (middle, high) if above else (low, middle)
    return math.exp((low + high) / 2)


def binomial_above(successes: int, trials: int) -> float:
    """Probability of more than so many successes of probability 1/2."""
    return float(sum(math.comb(trials, k) for k in range(successes + 1, trials + 1)) / 2**trials)


def binomial_quantile(share: float, trials: int) -> int:
    """The same law: the fewest successes that so large a share of all series do not exceed."""
    below, ways = 0, 1
    for successes in range(trials):
        below += ways
        if below / 2**trials >= share:
            return successes
        ways = ways * (trials - successes) // (successes + 1)
    return trials


def counts_chance(one: tuple[int, int], another: tuple[int, int]) -> float:
    """Fisher's exact test of two shares (count, of how many), in whole numbers to the division.

    All tables with the same sums that are no more likely than this one.
    """
    counted, all_of_them = one[0] + another[0], one[1] + another[1]
    ways = [
        math.comb(one[1], k) * math.comb(another[1], counted - k)
        for k in range(max(0, counted - another[1]), min(counted, one[1]) + 1)
    ]
    own = math.comb(one[1], one[0]) * math.comb(another[1], another[0])
    return sum(each for each in ways if each <= own) / math.comb(all_of_them, counted)


def spreads_chance(one: Floats, another: Floats) -> float | None:
    """Brown and Forsythe's test of equal spreads; ``None`` where neither arm's deviations differ.

    Source: "Robust tests for the equality of variances", JASA 69 (1974).
    """
    arms = [np.abs(arm - np.median(arm)) for arm in (one, another)]
    whole = np.concatenate(arms).mean()
    between = sum(len(arm) * (arm.mean() - whole) ** 2 for arm in arms)
    within = sum(float(np.square(arm - arm.mean()).sum()) for arm in arms)
    if within == 0:
        return 0.0 if between > 0 else None
    df = len(one) + len(another) - 2
    return f_above(float(df * between / within), 1, df)
