"""Other random assignments: the orders that a study might have had, drawn by the same rule.

A verdict compares the order that was with those that could have been, so every function here
must follow the law of ``plan/order.py`` exactly. Signs: +1 where the visit is of the other
system, -1 where it is of the baseline.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations
from typing import Literal

import numpy as np
import numpy.typing as npt

from steelyard.plan.order import TOLERANCE, generator

Signs = npt.NDArray[np.int8]
Design = Literal["big_stick", "pairs", "double_blocks", "blocks"]

PATHS = 20_000
EXPLORATORY_PATHS = 5_000


def big_stick(count: int, length: int, rng: np.random.Generator) -> Signs:
    """``count`` sequences of the big-stick design, shape (length, count).

    Each system with probability 1/2, unless one leads by ``TOLERANCE``: then the other follows.
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


def balanced_fours(count: int, length: int, rng: np.random.Generator) -> Signs:
    """``count`` sequences of blocks that hold each of a pair twice, shape (length, count).

    Within a block that orders k systems twice each, given the four places that a pair of systems
    takes, all six orders of the pair are equally likely: 2.6 bits where two pairs have 2.
    """
    orders = np.array([[1 if i in pair else -1 for i in range(4)] for pair in _TWO_OF_FOUR])
    drawn = orders.astype(np.int8)[rng.integers(0, len(orders), ((length + 3) // 4, count))]
    return drawn.transpose(0, 2, 1).reshape(-1, count)[:length]


_TWO_OF_FOUR = tuple(combinations(range(4), 2))
_LAWS = {
    "big_stick": big_stick,
    "pairs": random_pairs,
    "double_blocks": balanced_fours,
    "blocks": random_pairs,
}


@lru_cache(maxsize=16)
def draw(seed: int, design: Design, length: int, count: int, machine: str | None = None) -> Signs:
    """The sequences that a study of this seed is judged by, shape (length, count), read-only.

    Those of each ``machine`` are independent of those of all others.
    """
    signs = _LAWS[design](count, length, _paths_of(seed, machine))
    signs.setflags(write=False)
    return signs


def shuffles(signs: Signs, count: int, seed: int, machine: str | None = None) -> Signs:
    """``count`` shuffles of an order that was not assigned at random, shape (length, count).

    Equally likely if trials are independent of each other and of the time, and only then.
    """
    columns = np.repeat(signs[:, None], count, axis=1)
    return _paths_of(seed, machine).permuted(columns, axis=0)


def _paths_of(seed: int, machine: str | None) -> np.random.Generator:
    return generator(seed, "paths" if machine is None else f"paths of {machine}")
