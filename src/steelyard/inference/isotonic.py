"""Regression on a curve that never falls."""

from __future__ import annotations

import numpy as np

from steelyard.inference.robust import Floats

Pool = tuple[float, float, int]
"""Mean, weight and count of neighbours that were made equal."""


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
