"""Special functions that laws of probability are made of: error function, incomplete beta function.

SciPy has them as well, together with 150 MB that nothing here needs
(``docs/decisions/064-a-small-environment.md``); tests hold these against it. The incomplete beta
function is a continued fraction: Abramowitz and Stegun, "Handbook of Mathematical Functions",
26.5.8, evaluated from its last term, which takes floats as well as arrays.
"""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np

from steelyard.inference.noise.robust import Floats

_NORMAL = NormalDist()
_STIRLING_FROM = 15.0
_CLOSE = 1e-9
_MOST_STEPS = 100
_NEAR_THE_MIDDLE = 0.2
_FAR = 1e100
_LARGEST_LOG = 709.0


def normal_above(x: float) -> float:
    """Probability of more than ``x``."""
    return 0.5 * math.erfc(x / math.sqrt(2))


def normal_bound(tail: float) -> float:
    """What is exceeded with this probability."""
    if tail in {0.0, 1.0}:
        return math.copysign(math.inf, 0.5 - tail)
    return -_NORMAL.inv_cdf(tail) if 0 < tail < 1 else math.nan


def log_beta(a: float, b: float) -> float:
    """Logarithm of the beta function, also where the gamma functions in it nearly cancel."""
    small, large = min(a, b), max(a, b)
    if large < _STIRLING_FROM:
        return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)
    both = a + b
    ratio = small - (large - 0.5) * math.log1p(small / large) - small * math.log(both)
    return math.lgamma(small) + ratio + _stirling_rest(large) - _stirling_rest(both)


def _stirling_rest(z: float) -> float:
    square = z * z
    return (1 / 12 - (1 / 360 - (1 / 1260 - 1 / (1680 * square)) / square) / square) / z


def beta_below(x: float, rest: float, a: float, b: float) -> float:
    """The regularised incomplete beta function; ``rest`` is 1 - x, without its rounding."""
    if x <= 0 or rest <= 0:
        return 0.0 if x <= 0 else 1.0
    swapped = x > (a + 1) / (a + b + 2)
    if swapped:
        x, rest, a, b = rest, x, b, a
    logs = (math.log1p(-rest) if rest < x else math.log(x)), math.log(rest)
    if rest > x:
        logs = logs[0], math.log1p(-x)
    size = math.exp(a * logs[0] + b * logs[1] - log_beta(a, b)) / a
    below = size / float(_fraction(x, a, b, _terms(max(a, b))))
    return 1 - below if swapped else below


def t_above(t: float, df: float) -> float:
    """Probability of more than ``t`` in Student's law."""
    if abs(t) > _FAR:
        power = df * (_power(df) - math.log(abs(t)))
        return math.exp(power) if t > 0 else 1.0
    square = t * t
    tail = 0.5 * beta_below(df / (df + square), square / (df + square), df / 2, 0.5)
    return tail if t > 0 else 1 - tail


def t_above_many(t: Floats, df: float) -> Floats:
    """The same of many at once."""
    with np.errstate(over="ignore", invalid="ignore"):
        square = np.square(t)
        rest = np.where(np.isinf(square), 1.0, square / (df + square))
    x, a, b = df / (df + square), df / 2, 0.5
    swapped = x > (a + 1) / (a + b + 2)
    argument = np.where(swapped, rest, x)
    first, second = np.where(swapped, b, a), np.where(swapped, a, b)
    with np.errstate(divide="ignore", invalid="ignore"):
        size = np.exp(-a * np.log1p(square / df) + b * np.log(rest) - log_beta(a, b)) / first
    below = size / _fraction(argument, first, second, _terms(max(a, b)))
    tail = 0.5 * np.where(swapped, 1 - below, below)
    return np.asarray(np.where(t > 0, tail, 1 - tail))


def t_bound(tail: float, df: float) -> float:
    """What is exceeded with this probability in Student's law, by Newton's method.

    The logarithm of the tail is a concave function of that of the bound, the tail itself a convex
    one of the bound: either way no step goes beyond the solution twice.
    """
    if not 0 < tail < 1:
        return normal_bound(tail)
    if tail >= 0.5:
        return 0.0 if tail == 0.5 else -t_bound(1 - tail, df)
    far_log = _power(df) - math.log(tail) / df
    if far_log > math.log(_FAR):
        return math.exp(min(far_log, _LARGEST_LOG))
    t = min(_series(tail, df), math.exp(far_log))
    log_scale = log_beta(df / 2, 0.5) + math.log(df) / 2
    for _ in range(_MOST_STEPS):
        above = t_above(t, df)
        log_density = -(df + 1) / 2 * math.log1p(t * t / df) - log_scale
        if tail > _NEAR_THE_MIDDLE:
            step = (above - tail) / math.exp(log_density) / t
            t *= 1 + step
        else:
            slope = math.exp(log_density + math.log(t) - math.log(above))
            step = math.log(above / tail) / slope
            t = min(t * math.exp(step), math.exp(far_log))
        if abs(step) < _CLOSE:
            break
    return t


def _series(tail: float, df: float) -> float:
    """About the bound of the normal law: Abramowitz and Stegun, 26.7.5."""
    z = normal_bound(tail)
    return z + (z**3 + z) / (4 * df) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * df**2)


def _power(df: float) -> float:
    """Far out the tail is a power: ``log tail = df * (this - log t)``."""
    return math.log(df) / 2 - (log_beta(df / 2, 0.5) + math.log(df)) / df


def _terms(largest: float) -> int:
    return 24 + int(5 * math.sqrt(largest))


def _fraction(
    x: Floats | float, a: Floats | float, b: Floats | float, terms: int
) -> Floats | float:
    """The continued fraction, from its last term; for x below (a + 1) / (a + b + 2)."""
    found: Floats | float = 1.0
    for m in range(terms, 0, -1):
        found = 1 + m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)) / found
        k = m - 1
        found = 1 - (a + k) * (a + b + k) * x / ((a + 2 * k) * (a + 2 * k + 1)) / found
    return found
