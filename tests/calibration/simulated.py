"""Simulated studies: one noise, one true effect, the coin as shipped, seeds from names."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from tests.calibration.noises import NOISES, SD, Values

from steelyard.judge.exact import pool_of
from steelyard.judge.interval import Stream
from steelyard.judge.paths import PATHS, Signs, big_stick

Law = Callable[[int, int, np.random.Generator], Signs]

HORIZON = 96
STUDIES_PER_POOL = 20


@dataclass(frozen=True)
class Case:
    """A population of studies. The seed is the SHA-256 of its name: it cannot be chosen.

    ``effect`` is the true ratio as a natural logarithm. The other system has independent noise
    of its own besides, so that its independent part is ``spread`` times that of the baseline; in
    ``stalls`` of its visits it loses 5 to 40 %. ``coin`` is the law that the observed order
    follows: only a planted mistake sets it to anything but the law that the judge simulates.
    """

    noise: str
    effect: float = 0.0
    studies: int = 2_000
    horizon: int = HORIZON
    paths: int = PATHS
    spread: float = 1.0
    stalls: float = 0.0
    coin: Law = big_stick
    purpose: str = "A/A"

    @property
    def name(self) -> str:
        stalls = f", stalls {self.stalls:g}" if self.stalls else ""
        effect = f"effect {self.effect:.4f}"
        return f"{self.purpose}: {self.noise}, {effect}, spread {self.spread:g}{stalls}"


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
            values = noise + other * (case.effect + _own_noise(case, rng))
            yield Stream(values, other, pool, case.horizon)


def _own_noise(case: Case, rng: np.random.Generator) -> Values | float:
    """What the other system has beyond the noise of both; nothing is drawn without need."""
    own: Values | float = 0.0
    if case.spread != 1:
        own = rng.normal(0.0, SD * np.sqrt(case.spread**2 - 1), case.horizon)
    if case.stalls:
        stalled = rng.random(case.horizon) < case.stalls
        own -= stalled * rng.uniform(0.05, 0.40, case.horizon)
    return own


def first(stream: Stream, visits: int) -> Stream:
    """The study as it stood after its first visits."""
    return Stream(
        stream.values[:visits], stream.other[:visits], stream.pool[:visits], stream.horizon
    )
