"""Simulated studies: one noise, one true effect, the coin as shipped, seeds from names."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from tests.calibration.noises import NOISES

from steelyard.judge.exact import pool_of
from steelyard.judge.interval import Stream
from steelyard.judge.paths import PATHS, Signs, big_stick

Law = Callable[[int, int, np.random.Generator], Signs]

HORIZON = 96
STUDIES_PER_POOL = 20


@dataclass(frozen=True)
class Case:
    """A population of studies. The seed is the SHA-256 of its name: it cannot be chosen.

    ``effect`` is the true ratio as a natural logarithm; ``spread`` multiplies the noise of the
    other system. ``coin`` is the law that the observed order follows: only a planted mistake
    sets it to anything but the law that the judge simulates.
    """

    noise: str
    effect: float = 0.0
    studies: int = 2_000
    horizon: int = HORIZON
    paths: int = PATHS
    spread: float = 1.0
    coin: Law = big_stick
    purpose: str = "A/A"

    @property
    def name(self) -> str:
        return f"{self.purpose}: {self.noise}, effect {self.effect:.4f}, spread {self.spread:g}"


def studies(case: Case) -> Iterator[Stream]:
    """The studies of a case, one after another, each measured to the end of its budget.

    The simulated sequences are drawn anew for every ``STUDIES_PER_POOL`` studies. The pool is
    written over between studies: take what you need before asking for the next.
    """
    seed = int.from_bytes(hashlib.sha256(case.name.encode()).digest(), "big")
    rng = np.random.Generator(np.random.PCG64(seed))
    for done in range(0, case.studies, STUDIES_PER_POOL):
        count = min(STUDIES_PER_POOL, case.studies - done)
        observed = case.coin(count, case.horizon, rng)
        pool = pool_of(observed[:, 0], big_stick(case.paths, case.horizon, rng))
        for study in range(count):
            pool[:, 0] = observed[:, study]
            other = observed[:, study] > 0
            noise = NOISES[case.noise](rng, case.horizon)
            values = noise * np.where(other, case.spread, 1.0) + case.effect * other
            yield Stream(values, other, pool, case.horizon)


def first(stream: Stream, visits: int) -> Stream:
    """The study as it stood after its first visits."""
    return Stream(
        stream.values[:visits], stream.other[:visits], stream.pool[:visits], stream.horizon
    )
