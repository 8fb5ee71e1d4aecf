"""How evenly instances share a machine, noise taken out; and means over visits. Pure."""

from __future__ import annotations

import math

import numpy as np

from steelyard.inference.noise.robust import Floats
from steelyard.inference.probability.distributions import t_above, t_bound
from steelyard.inference.probability.studentised_range import range_quantile
from steelyard.judge.analyses.consolidation.findings import RatioFinding

LEVEL = 0.95


def mean_of(logs: Floats) -> RatioFinding:
    """The mean over visits with its t interval."""
    mean, count = float(logs.mean()), len(logs)
    if count < 2:
        return RatioFinding(log=mean, low_log=None, high_log=None)
    error = float(logs.std(ddof=1)) / math.sqrt(count)
    reach = float(t_bound((1 - LEVEL) / 2, count - 1)) * error
    return RatioFinding(log=mean, low_log=mean - reach, high_log=mean + reach)


def jain(shares: Floats) -> float:
    """``(sum x)^2 / (n sum x^2)``: 1 when all have the same, 1/n when one has all."""
    return float(shares.sum() ** 2 / (len(shares) * np.square(shares).sum()))


def fairness(rates: Floats) -> float | None:
    """Jain's index without what noise adds to it; a row for each visit, a column an instance.

    ``CV^2 = max(0, s^2 between - s^2 within / visits) / mean^2``, ``J = 1 / (1 + CV^2)``; each
    visit is taken relative to its own mean. ``None`` for one visit, which cannot tell noise from
    shares.
    """
    relative = rates / rates.mean(axis=1, keepdims=True)
    visits, instances = relative.shape
    if visits < 2 or instances < 2:
        return None
    means = relative.mean(axis=0)
    left = relative - means
    within = float(np.square(left).sum()) / ((visits - 1) * (instances - 1))
    between = float(means.var(ddof=1))
    squared = max(0.0, between - within / visits) * (instances - 1) / instances
    return float(1 / (1 + squared))


def worst_over_best(rates: Floats) -> RatioFinding | None:
    """The slowest instance over the fastest, by their means over visits.

    Which they are is chosen by noise, too: the interval is that of the studentised range (Tukey),
    and never beyond 1. ``None`` for one visit.
    """
    logs = np.log(rates)
    visits, instances = logs.shape
    if visits < 2 or instances < 2:
        return None
    means = logs.mean(axis=0)
    left = logs - means - logs.mean(axis=1, keepdims=True) + logs.mean()
    df = (visits - 1) * (instances - 1)
    error = math.sqrt(float(np.square(left).sum()) / df / visits)
    reach = range_quantile(LEVEL, instances, df) * error
    apart = float(means.min() - means.max())
    return RatioFinding(log=apart, low_log=apart - reach, high_log=min(0.0, apart + reach))


def holm(chances: list[float], rate: float) -> list[bool]:
    """Which of several hypotheses Holm's procedure rejects at a familywise rate."""
    order = sorted(range(len(chances)), key=lambda place: chances[place])
    rejected = [False] * len(chances)
    for rank, place in enumerate(order):
        if chances[place] > rate / (len(chances) - rank):
            break
        rejected[place] = True
    return rejected


def chance_of_none(logs: Floats, bound_log: float = 0.0) -> float:
    """Two-sided p of a mean of zero; with a bound, p of a mean at or beyond it either way."""
    if len(logs) < 2:
        return 1.0
    error = float(logs.std(ddof=1)) / math.sqrt(len(logs))
    mean, df = abs(float(logs.mean())), len(logs) - 1
    if error == 0:
        return 0.0 if (mean < bound_log if bound_log else mean > 0) else 1.0
    if bound_log:
        return float(t_above((bound_log - mean) / error, df))
    return float(2 * t_above(mean / error, df))
