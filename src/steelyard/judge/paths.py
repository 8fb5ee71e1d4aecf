"""The coin's other sequences: the orders that a study might have had, drawn by its own coin.

A verdict compares the order that was with those that could have been, so every function here
must follow the law of ``plan/order.py`` exactly. Signs: +1 where the visit is of the other
system, -1 where it is of the baseline.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

import numpy as np
import numpy.typing as npt

from steelyard.plan.order import TOLERANCE, generator

Signs = npt.NDArray[np.int8]

PATHS = 20_000
EXPLORATORY_PATHS = 5_000


def big_stick(count: int, length: int, rng: np.random.Generator) -> Signs:
    """``count`` sequences of the big-stick coin, shape (length, count).

    A fair coin at every visit, unless one system leads by ``TOLERANCE``: then the other follows.
    Source: Soares and Wu, "Some restricted randomization rules in sequential designs", 1983.
    """
    signs = np.empty((length, count), dtype=np.int8)
    lead = np.zeros(count, dtype=np.int8)
    for visit in range(length):
        free = np.where(rng.random(count) < 0.5, np.int8(1), np.int8(-1))
        forced = np.where(lead > 0, np.int8(-1), np.int8(1))
        signs[visit] = np.where(np.abs(lead) >= TOLERANCE, forced, free)
        lead += signs[visit]
    return signs


def random_pairs(count: int, length: int, rng: np.random.Generator) -> Signs:
    """``count`` sequences of randomly ordered pairs, shape (length, count).

    Within a block that permutes k systems, given the two places that a pair of systems takes,
    both orders of the pair are equally likely: the law of one comparison among several.
    """
    first = np.where(rng.random(((length + 1) // 2, count)) < 0.5, np.int8(1), np.int8(-1))
    signs = np.empty((2 * len(first), count), dtype=np.int8)
    signs[0::2] = first
    signs[1::2] = -first
    return signs[:length]


@lru_cache(maxsize=4)
def draw(seed: int, design: Literal["big_stick", "blocks"], length: int, count: int) -> Signs:
    """The sequences that a study of this seed is judged by, shape (length, count), read-only."""
    law = big_stick if design == "big_stick" else random_pairs
    signs = law(count, length, generator(seed, "paths"))
    signs.setflags(write=False)
    return signs


def shuffles(signs: Signs, count: int, seed: int) -> Signs:
    """``count`` shuffles of an order that no coin has drawn, shape (length, count).

    Equally likely if trials are independent of each other and of the time, and only then.
    """
    columns = np.repeat(signs[:, None], count, axis=1)
    return generator(seed, "paths").permuted(columns, axis=0)
