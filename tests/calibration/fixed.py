"""A number of pairs that is fixed beforehand, judged by a t test at its end; for G4 and G5."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from scipy.stats import nct, t
from tests.calibration.batched import MARGIN
from tests.calibration.gate import ALPHA
from tests.calibration.noises import SD, Values

FIXED_PAIRS = tuple(range(4, 31))
_POWER = 0.90
_MOST_PAIRS = 2_000


def fixed_pairs(
    noise: Values, effect: float, rng: np.random.Generator
) -> dict[int, npt.NDArray[np.bool_]]:
    """For each number of pairs, whether each study is judged rightly.

    With an effect: the two-sided t test at 5 % finds it, with its sign. Without one: both
    one-sided tests at 5 % reject a difference of the margin.
    """
    pairs = noise[:, : 2 * FIXED_PAIRS[-1]].reshape(len(noise), -1, 2)
    flips = np.where(rng.random(pairs.shape[:2]) < 0.5, 1.0, -1.0)
    gaps = flips * (pairs[:, :, 1] - pairs[:, :, 0]) + effect
    return {count: _right(gaps[:, :count], effect) for count in FIXED_PAIRS}


def _right(gaps: Values, effect: float) -> npt.NDArray[np.bool_]:
    count = gaps.shape[1]
    mean, error = gaps.mean(axis=1), gaps.std(axis=1, ddof=1) / math.sqrt(count)
    if effect == 0:
        return np.asarray(np.abs(mean) + float(t.isf(ALPHA, count - 1)) * error < MARGIN)
    return np.asarray(mean * np.sign(effect) > float(t.isf(ALPHA / 2, count - 1)) * error)


def oracle_pairs(effect: float) -> int:
    """The fewest pairs with 90 % power for who knows effect and variance; independent noise."""
    for pairs in range(2, _MOST_PAIRS):
        shift = abs(effect) / (SD * math.sqrt(2 / pairs))
        if nct.sf(float(t.isf(ALPHA / 2, pairs - 1)), pairs - 1, shift) >= _POWER:
            return pairs
    raise ValueError(f"an effect of {effect} needs more than {_MOST_PAIRS} pairs")
