"""Simulated races of several systems: decided ones leave, and noise goes by the clock.

The strictest case for the judge: what is measured later depends on who has left, and who has
left depends on the coin. Of one pair: each comparison spends a whole error rate, so that a false
verdict is seen as such and not hidden by the share of a family. Of the family: as shipped.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field

import numpy as np
from tests.calibration.cells import generator_of
from tests.calibration.gate import ALPHA
from tests.calibration.noises import NOISES, SD, Values

from steelyard.inference.exact import Pool
from steelyard.inference.randomisation import Signs, balanced_fours
from steelyard.inference.ratio_tests import Inference
from steelyard.inference.sequential import Decision, Memory, VerdictWord
from steelyard.inference.stream import Order, Stream
from steelyard.plan.order import ROUNDS, blocks

PATHS = 1_000
BLOCKS = 12
MARGIN = float(np.log1p(0.02))
DIFFERENCES = {VerdictWord.FASTER, VerdictWord.SLOWER}


@dataclass(frozen=True)
class Race:
    """A population of studies. ``effects`` are those of all systems but the baseline.

    ``freed`` is what every system that has left adds to all that are measured after it: a
    machine that is quicker once a heavy neighbour is gone. Systems but the baseline vary by
    ``spread`` times its independent noise. ``family``: the comparisons share one error rate.
    """

    noise: str
    effects: tuple[float, ...]
    studies: int
    freed: float = 0.0
    spread: float = 1.0
    family: bool = False
    batch: int = 0
    visits: list[int] = field(default_factory=list)

    @property
    def name(self) -> str:
        parts = [f"race: {self.noise}", f"effects {self.effects}", f"freed {self.freed:g}"]
        parts += [f"spread {self.spread:g}"] if self.spread != 1 else []
        parts += ["family"] if self.family else []
        return ", ".join(parts)

    @property
    def alpha(self) -> float:
        """What each comparison may spend."""
        return ALPHA / len(self.effects) if self.family else ALPHA

    @property
    def nulls(self) -> list[int]:
        """Places of the systems that equal the baseline."""
        return [place for place, effect in enumerate(self.effects) if effect == 0.0]


def false_differences(race: Race) -> list[int]:
    """For each system that equals the baseline, how many studies called it different.

    ``race.visits`` is filled with the visits that each study took.
    """
    studies = list(_false_of_studies(race))
    return [sum(place in false for false in studies) for place in race.nulls]


def false_families(race: Race) -> int:
    """Studies in which any system that equals the baseline is called different."""
    return sum(bool(false) for false in _false_of_studies(race))


def _false_of_studies(race: Race) -> Iterator[set[int]]:
    """For each study the systems that are falsely called different."""
    rng = generator_of(race.name, race.batch)
    for _ in range(race.studies):
        decided = _one_study(race, rng)
        yield {
            place
            for place in race.nulls
            if place in decided and DIFFERENCES & set(decided[place].words)
        }


def _one_study(race: Race, rng: np.random.Generator) -> dict[int, Decision]:
    count = len(race.effects) + 1
    most = BLOCKS * ROUNDS * count
    noise: Values = NOISES[race.noise](rng, most)
    simulated = balanced_fours(PATHS, 2 * ROUNDS * BLOCKS, rng)
    seen: dict[int, list[tuple[bool, float]]] = {place: [] for place in range(count - 1)}
    decided: dict[int, Decision] = {}
    coin, now = (race.name, race.batch, len(race.visits)), 0
    memory = Memory()
    for order in blocks(rng, count, BLOCKS, ROUNDS):
        racing = [place for place in seen if place not in decided]
        if not racing:
            break
        here = [s for s in order if s == 0 or s - 1 in racing]
        gone = race.freed * len(decided)
        for system, value in zip(here, noise[now : now + len(here)] + gone, strict=True):
            own = float(value)
            if system:
                own += race.effects[system - 1]
                own += rng.normal(0.0, SD * math.sqrt(race.spread**2 - 1))
            for place in racing if system == 0 else [system - 1]:
                seen[place].append((system != 0, own))
        now += len(here)
        for place in racing:
            tests = Inference.of(_stream(seen[place], simulated, coin), memory)
            found = tests.decide(MARGIN, race.alpha)
            if found.words:
                decided[place] = found
    race.visits.append(now)
    return decided


def _stream(seen: list[tuple[bool, float]], simulated: Signs, coin: Hashable) -> Stream:
    """``coin`` names the simulated orders, so that looks that were made need not be made again."""
    other = np.array([row[0] for row in seen], dtype=np.bool_)
    values = np.array([row[1] for row in seen])
    signs = np.where(other, np.int8(1), np.int8(-1))
    pool = Pool(signs, simulated[: len(seen)])
    order = Order(coin, tuple(range(len(seen))), tuple(bool(one) for one in other))
    return Stream(values, other, pool, 2 * ROUNDS * BLOCKS, order)


EARLY = float(np.log1p(0.09))
EQUAL, UNLIKE = (0.0, 0.0, 0.0), (0.0, EARLY, -EARLY)


def cases(studies: int) -> list[Race]:
    """Others leave early or late, under noise that goes by the clock, and with a machine that
    changes by three times the noise whenever somebody leaves.
    """
    alike = ("independent 2 %", "drift 2 % a visit", "AR(1) 0.9", "bimodal 6 %")
    early = [Race(noise, UNLIKE, studies) for noise in alike]
    freed = [Race("independent 2 %", effects, studies, 0.06) for effects in (EQUAL, UNLIKE)]
    return [*early, Race("independent 2 %", EQUAL, studies), *freed]
