"""Random order: which system each visit prepares, and in which order it meets the conditions.

Every draw comes from the seed of the plan and a purpose, so that one purpose can be replayed
without the others. Sequences are drawn from the front: the first N of 2N are what N alone would
have been.
"""

from __future__ import annotations

import hashlib
import secrets

import numpy as np
import numpy.typing as npt

from steelyard.units import MOST_COUNT


def generator(seed: int, purpose: str) -> np.random.Generator:
    """The stream of random numbers for one purpose (``"coin"``, ``conditions``, ``paths``, ...).

    PCG64 seeded with the SHA-256 of ``"{seed}:{purpose}"``: equal seed and purpose give equal
    draws, and different purposes are independent.
    """
    digest = hashlib.sha256(f"{seed}:{purpose}".encode()).digest()
    sequence = np.random.SeedSequence(int.from_bytes(digest, "big"))
    return np.random.Generator(np.random.PCG64(sequence))


TOLERANCE = 2
MOST_SEED = MOST_COUNT


def draw_seed() -> int:
    """A seed from the machine's own randomness, for a study that does not fix one."""
    return secrets.randbelow(MOST_SEED) + 1


def seed_of_machine(seed: int, machine: str) -> int:
    """The seed of one machine of several: their orders are drawn independently of each other."""
    return int(generator(seed, f"machine {machine}").integers(1, MOST_SEED, endpoint=True))


def big_stick(random: np.random.Generator, visits: int) -> npt.NDArray[np.int8]:
    """A random assignment of each visit: 0 or 1, each with probability 1/2, unless one leads by 2.

    Then the other is forced. Source: Soares and Wu, "Some restricted randomization rules in
    sequential designs", Communications in Statistics, Theory and Methods 12 (1983) 2017-2034;
    tolerance and reasons in ``docs/methods/order.md``.
    """
    tosses = random.integers(0, 2, size=visits, dtype=np.int8)
    lead = 0
    for i in range(visits):
        if abs(lead) == TOLERANCE:
            tosses[i] = 0 if lead > 0 else 1
        lead += 1 if tosses[i] else -1
    return tosses


def pairs(random: np.random.Generator, visits: int) -> npt.NDArray[np.int8]:
    """A random order of each pair of visits: 0 and 1 or 1 and 0, each with probability 1/2."""
    first = random.integers(0, 2, size=(visits + 1) // 2, dtype=np.int8)
    return np.column_stack([first, 1 - first]).ravel()[:visits]


ROUNDS = 2
"""How often each block of three and more systems holds every one of them."""


def blocks(
    random: np.random.Generator, systems: int, count: int, rounds: int = 1
) -> list[tuple[int, ...]]:
    """``count`` blocks, each every system ``rounds`` times in an order drawn at random."""
    members = np.tile(np.arange(systems), rounds)
    return [tuple(int(i) for i in random.permutation(members)) for _ in range(count)]


def condition_orders(
    random: np.random.Generator, conditions: int, visits: int
) -> list[tuple[int, ...]]:
    """For each visit the order in which it meets the conditions."""
    return blocks(random, conditions, visits)
