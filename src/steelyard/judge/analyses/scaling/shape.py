"""What the levels show without a model: rise and fall, where it is flat, whether it falls back.

Contrasts between levels use the noise of all trials of the curve after levels and visits; with
few visits nothing else tells small falls from chance.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from steelyard.inference.noise.robust import Floats
from steelyard.inference.probability.distributions import t_bound
from steelyard.judge.analyses.scaling.findings import FallFinding, KneeFinding
from steelyard.judge.analyses.scaling.table import Form, Table

ERROR_RATE = 0.05
_DRAWS = 40_000
_SEED = 20_111

Pool = tuple[float, float, int]
"""Mean, weight and count of neighbours that were made equal."""


def umbrella(values: Floats, weights: Floats) -> Floats:
    """The best fit that first never falls and then never rises (least squares)."""
    fits = [
        np.concatenate(
            (
                isotonic(values[:turn], weights[:turn]),
                -isotonic(-values[turn:], weights[turn:]),
            )
        )
        for turn in range(1, len(values) + 1)
    ]
    return min(fits, key=lambda fitted: float(np.sum(weights * (values - fitted) ** 2)))


def isotonic(values: Floats, weights: Floats) -> Floats:
    """The nearest values that never fall (least squares), by pooling adjacent violators."""
    pools: list[Pool] = []
    for value, weight in zip(values.tolist(), weights.tolist(), strict=True):
        pool = (value, weight, 1)
        while pools and pools[-1][0] >= pool[0]:
            pool = _pooled(pools.pop(), pool)
        pools.append(pool)
    return np.repeat([mean for mean, _, _ in pools], [count for _, _, count in pools])


def _pooled(one: Pool, other: Pool) -> Pool:
    weight = one[1] + other[1]
    return (one[0] * one[1] + other[0] * other[1]) / weight, weight, one[2] + other[2]


@dataclass(frozen=True)
class Contrast:
    """One level less another, in logarithms; ``error`` is its standard error."""

    estimate_log: float
    error: float


def contrast(form: Form, weights: Floats) -> Contrast:
    """A weighted sum of levels, its weights adding up to zero."""
    noise = form.noise_log or 0.0
    variance = float(weights @ form.covariance @ weights)
    return Contrast(float(weights @ form.means), noise * math.sqrt(variance))


def fall(table: Table, margin_log: float) -> FallFinding | None:
    """The last level against the best of those before it, the choice of which is paid for.

    The largest of the standardised differences to all earlier levels is held against its own law
    (multivariate t with their correlations), which Holm's procedure would bound from above. The
    interval has that law's bound on both sides. ``None`` where noise cannot be determined.
    """
    form = table.form
    if form.df <= 0 or not form.noise_log or len(table.levels) < 2:
        return None
    places = np.eye(len(table.levels))
    contrasts = [contrast(form, places[-1] - row) for row in places[:-1]]
    reach = _largest_of(form.covariance.tobytes(), len(table.levels), form.df)
    best = int(np.argmin([each.estimate_log for each in contrasts]))
    high = min(each.estimate_log + reach * each.error for each in contrasts)
    low = contrasts[best].estimate_log - reach * contrasts[best].error
    return FallFinding(
        last=float(table.levels[-1]),
        best=float(table.levels[best]),
        change_log=contrasts[best].estimate_log,
        low_log=low,
        high_log=high,
        interval_level=1 - 2 * ERROR_RATE,
        falls=high < 0,
        beyond_margin=high < -margin_log,
    )


@lru_cache(maxsize=64)
def _largest_of(covariance: bytes, levels: int, df: int) -> float:
    """The 95 % quantile of the largest standardised difference of earlier levels to the last."""
    random = np.random.default_rng(_SEED)
    matrix = np.frombuffer(covariance).reshape(levels, levels)
    root = np.linalg.cholesky(matrix + 1e-12 * np.eye(levels))
    drawn = random.standard_normal((_DRAWS, levels)) @ root.T
    differences = drawn[:, :-1] - drawn[:, -1:]
    scales = differences.std(axis=0)
    spread = np.sqrt(random.chisquare(df, _DRAWS) / df)
    largest = (differences / scales).max(axis=1) / spread
    return float(np.quantile(largest, 1 - ERROR_RATE))


def knee(table: Table, smooth: Floats, margin_log: float) -> KneeFinding | None:
    """Where the asymptotes of light load and of saturation meet: ``N0 = N1 Xsat / X(N1)``.

    With users it is ``(R0 + Z) Xsat`` by Little's law, ``N1 / X(N1)`` being the time of a round at
    light load. Saturation is the mean of the levels within the margin of the smooth maximum.
    ``None`` while throughput still grows at the last level.
    """
    plateau = np.flatnonzero(smooth >= smooth.max() - margin_log)
    still_grows = len(plateau) == 1 and plateau[0] == len(smooth) - 1
    if still_grows or plateau[0] == 0:
        return None
    weights = np.zeros(len(smooth))
    weights[plateau], weights[0] = 1 / len(plateau), -1.0
    found = contrast(table.form, weights)
    low = high = None
    first = float(table.levels[0])
    if table.form.noise_log:
        reach = float(t_bound(ERROR_RATE / 2, table.form.df)) * found.error
        low = first * math.exp(found.estimate_log - reach)
        high = first * math.exp(found.estimate_log + reach)
    return KneeFinding(
        at=first * math.exp(found.estimate_log),
        low=low,
        high=high,
        interval_level=1 - ERROR_RATE,
        plateau=tuple(float(table.levels[place]) for place in plateau),
    )


def super_linear(table: Table) -> Contrast | None:
    """The second level against its share of the first, where it is surely above; else ``None``."""
    if len(table.levels) < 2 or not table.form.noise_log:
        return None
    weights = np.zeros(len(table.levels))
    weights[1], weights[0] = 1.0, -1.0
    found = contrast(table.form, weights)
    beyond = found.estimate_log - math.log(table.levels[1] / table.levels[0])
    reach = float(t_bound(ERROR_RATE / 2, table.form.df)) * found.error
    return Contrast(beyond, found.error) if beyond > reach else None
