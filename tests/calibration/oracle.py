"""Visits of who knows the noise: the fewest that a sequential test can need; for G3.

Visits are independent and normal, arms balanced, and their standard deviation is known. There is a
look after each visit from the 8th on, with the words and the error rates of the judge, a tenth of
which is kept for an extension; how they are spent is the best of ten functions for each effect.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from tests.calibration.batched import MARGIN
from tests.calibration.cells import HORIZON, generator_of
from tests.calibration.gate import ALPHA
from tests.calibration.noises import SD

from steelyard.inference.spending import FIRST_LOOK

Floats = npt.NDArray[np.float64]
_LOOKS = np.arange(FIRST_LOOK, HORIZON + 1)
_BY_BUDGET = 0.9


def _power(exponent: float) -> Callable[[Floats], Floats]:
    return lambda looks: (looks / HORIZON) ** exponent


def _logarithm(first: float) -> Callable[[Floats], Floats]:
    return lambda n: first + (1 - first) * np.log(n / FIRST_LOOK) / math.log(HORIZON / FIRST_LOOK)


SPENDING = (
    *map(_power, (0.5, 1.0, 1.5, 2.0, 3.0)),
    *map(_logarithm, (0.02, 0.1, 0.2, 0.36, 0.5)),
)
"""The share of what may be spent by the budget that may have been spent by each look."""


@lru_cache(maxsize=8)
def mean_visits(effect: float, studies: int = 10_000) -> float:
    """Undecided studies count their whole budget, as the judge's do."""
    drawn = scores(studies, 0)
    return min(float(_stops(drawn, effect, spending).mean()) for spending in SPENDING)


def scores(studies: int, batch: int) -> Floats:
    """The standard normal score of equal systems at each look, shape (studies, looks)."""
    steps = generator_of("known noise", batch).standard_normal((studies, HORIZON))
    whole = np.cumsum(steps, axis=1) / np.sqrt(np.arange(1, HORIZON + 1))
    return np.asarray(whole[:, FIRST_LOOK - 1 :])


def _stops(drawn: Floats, effect: float, spending: Callable[[Floats], Floats]) -> Floats:
    """Visits of each study at its first word."""
    shares = _BY_BUDGET * spending(_LOOKS.astype(np.float64))

    def crossed(ratio: float, side: int, alpha: float) -> Floats:
        shifted = side * (drawn + (effect - ratio) * np.sqrt(_LOOKS) / (2 * SD))
        over = shifted > limits(drawn, alpha * shares)
        return np.where(over.any(axis=1), _LOOKS[over.argmax(axis=1)], np.inf)

    different = np.minimum(crossed(0.0, 1, ALPHA / 2), crossed(0.0, -1, ALPHA / 2))
    alike = np.maximum(crossed(-MARGIN, 1, ALPHA), crossed(MARGIN, -1, ALPHA))
    return np.minimum(np.minimum(different, alike), HORIZON)


def limits(drawn: Floats, allowed: Floats) -> Floats:
    """The score above which so many of the studies without an effect have crossed by each look."""
    alive, found = np.ones(len(drawn), dtype=np.bool_), []
    for look, share in enumerate(allowed):
        leaving = int(share * len(drawn)) - int(np.count_nonzero(~alive))
        here = drawn[alive, look]
        found.append(float(np.partition(here, -leaving - 1)[-leaving - 1]))
        alive[alive] = here <= found[-1]
    return np.array(found)
