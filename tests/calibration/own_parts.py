"""A slow part of the machine that one system alone feels: a limit of every test on one machine.

What the other system feels of its own lasts over several visits, and has mean 0: both are equal in
the long run, and differ for as long as a study takes.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from tests.calibration.batched import Outcome, judged
from tests.calibration.cells import HORIZON, Batch, Cell, drawn, generator_of
from tests.calibration.gate import ALPHA
from tests.calibration.noises import Values
from tests.calibration.tally import Tally

from steelyard.inference.assumptions.own_memory import own_memory
from steelyard.inference.confidence import Rejections
from steelyard.inference.estimate import estimate
from steelyard.inference.exact import Pool
from steelyard.inference.sequential import VerdictWord
from steelyard.inference.stream import Stream

_MEMORY_PATHS = 2_000
_DIFFERENCES = {VerdictWord.FASTER, VerdictWord.SLOWER}
Part = Callable[[np.random.Generator, int], Values]


def autocorrelated(phi: float) -> Part:
    """AR(1) with this coefficient, stationary."""

    def part(rng: np.random.Generator, visits: int) -> Values:
        shocks = rng.normal(0.0, math.sqrt(1 - phi**2), visits)
        values = np.empty(visits)
        values[0] = rng.normal()
        for visit in range(1, visits):
            values[visit] = phi * values[visit - 1] + shocks[visit]
        return values

    return part


def _two_modes(rng: np.random.Generator, visits: int) -> Values:
    turns = rng.random(visits) < 1 / 12
    return np.where((np.cumsum(turns) + rng.integers(2)) % 2, 1.0, -1.0)


def _sine(rng: np.random.Generator, visits: int) -> Values:
    period, phase = rng.uniform(20, 96), rng.uniform(0, 2 * np.pi)
    return np.asarray(math.sqrt(2) * np.sin(2 * np.pi * np.arange(visits) / period + phase))


PARTS: dict[str, Part] = {
    "AR(1) 0.9": autocorrelated(0.9),
    "AR(1) 0.7": autocorrelated(0.7),
    "two modes that last 12 visits": _two_modes,
    "sine of 20 to 96 visits": _sine,
}
"""Each of deviation 1."""
SDS = (0.01, 0.02, 0.04)


@dataclass(frozen=True)
class OwnPart:
    """Equal systems with independent noise of 2 %, and of one such a part of this deviation."""

    part: str
    sd: float

    @property
    def name(self) -> str:
        return f"{self.part} of {self.sd:.0%} in one system"

    @property
    def cell(self) -> Cell:
        return Cell("independent 2 %")

    def drawn(self, batch: int, studies: int) -> Batch:
        rng = generator_of(self.name, batch)
        own = np.array([PARTS[self.part](rng, HORIZON) for _ in range(studies)])
        found = drawn(self.cell, batch, studies)
        return replace(found, values=found.values + self.sd * own * (found.signs.T > 0))


def felt_by_one(case: OwnPart, batch: int, studies: int) -> Tally:
    """Studies that call the two different at the stop; of these: whether the interval of all 96
    visits still excludes 0, and whether the note on visits that depend stands beside the verdict.
    """
    population = case.drawn(batch, studies)
    outcomes = judged(population, HORIZON)
    counts: Counter[str] = Counter()
    for number, outcome in enumerate(outcomes):
        counts["equivalent"] += VerdictWord.EQUIVALENT in outcome.words
        if _DIFFERENCES & set(outcome.words) and outcome.at is not None:
            counts["wrong"] += 1
            counts["noted at the stop"] += noted(population, number, outcome.at)
            at_the_end = noted(population, number, HORIZON)
            counts["noted after 96"] += at_the_end
            still = _still(population, number, outcome)
            counts["still"] += still
            counts["still, not noted"] += still and not at_the_end
    return Tally(studies, counts, Counter(each.at or HORIZON for each in outcomes))


def noted(population: Batch, number: int, visits: int) -> bool:
    """Whether visits of one system are seen to depend on each other."""
    stream = first(population, number, visits)
    found = estimate(stream.values, stream.other)
    seen = None if found is None else own_memory(stream.values, stream.pool, found.ratio_log)
    return seen is not None and seen.shows


def _still(population: Batch, number: int, outcome: Outcome) -> bool:
    """Whether the interval of all visits excludes 0: where a difference was decided, the ratios
    that no look has rejected do, so Welch's test of the last look answers.
    """
    stream = first(population, number, HORIZON)
    side = stream if VerdictWord.FASTER in outcome.words else stream.mirrored()
    return bool(Rejections(side).lows(ALPHA / 2)[-1] > 0)


def first(population: Batch, number: int, visits: int) -> Stream:
    """The first visits of a study."""
    signs = population.signs[:visits, number]
    pool = Pool(signs, population.simulated[:visits, :_MEMORY_PATHS])
    return Stream(population.values[number, :visits], signs > 0, pool, HORIZON)
