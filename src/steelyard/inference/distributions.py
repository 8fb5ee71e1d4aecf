"""Tails and bounds of distributions, computed from special functions.

``scipy.stats`` says the same and takes longer to import than most verdicts take to judge. Where
``tail`` is asked, it is the probability above the bound.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import bdtr, bdtrc, fdtrc, fdtri, ndtr, ndtri, stdtr, stdtrit

from steelyard.inference.robust import Floats

Numbers = Floats | float

FAIR = 0.5


def normal_density(x: Floats) -> Floats:
    return np.asarray(np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi))


def normal_above(x: Numbers) -> Floats:
    """Probability of more than ``x``."""
    return np.asarray(ndtr(-np.asarray(x, dtype=np.float64)))


def normal_bound(tail: Numbers) -> Floats:
    return np.asarray(-ndtri(tail))


def t_above(x: Numbers, df: Numbers) -> Floats:
    """Probability of more than ``x`` in Student's law."""
    return np.asarray(stdtr(df, -np.asarray(x, dtype=np.float64)))


def t_bound(tail: Numbers, df: Numbers) -> Floats:
    """Infinite where nothing may be above it, which the special function has the wrong way."""
    return np.where(np.asarray(tail) == 0, math.inf, -stdtrit(df, tail))


def f_above(x: float, between: int, within: int) -> float:
    """Probability of more than ``x`` in Fisher's law of a ratio of mean squares."""
    return float(fdtrc(between, within, x))


def f_quantile(share: float, between: int, within: int) -> float:
    """What ``share`` of all such ratios stay below."""
    return float(fdtri(between, within, share))


def binomial_above(successes: int, trials: int) -> float:
    """Probability of more than so many successes of probability 1/2."""
    return float(bdtrc(successes, trials, FAIR))


def binomial_quantile(share: float, trials: int) -> int:
    """The same law: the fewest successes that so large a share of all series do not exceed."""
    return int(np.searchsorted(bdtr(np.arange(trials + 1), trials, FAIR), share))


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
