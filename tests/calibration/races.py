"""Simulated races of several systems: decided ones leave, and noise goes by the clock.

The strictest case for the judge: what is measured later depends on who has left, and who has
left depends on the coin. Each comparison spends a whole error rate here, so that a false verdict
of one pair is seen as such and not hidden by the share of a family.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

import numpy as np
from tests.calibration.gate import ALPHA
from tests.calibration.noises import NOISES, Values

from steelyard.judge.decision import Decision, decide
from steelyard.judge.exact import pool_of
from steelyard.judge.findings import VerdictWord
from steelyard.judge.interval import Stream
from steelyard.judge.paths import Signs, balanced_fours
from steelyard.plan.order import ROUNDS, blocks

PATHS = 1_000
BLOCKS = 12
MARGIN = float(np.log1p(0.02))
DIFFERENCES = {VerdictWord.FASTER, VerdictWord.SLOWER}


@dataclass(frozen=True)
class Race:
    """A population of studies. ``effects`` are those of all systems but the baseline.

    ``freed`` is what every system that has left adds to all that are measured after it: a
    machine that is quicker once a heavy neighbour is gone.
    """

    noise: str
    effects: tuple[float, ...]
    studies: int
    freed: float = 0.0
    visits: list[int] = field(default_factory=list)

    @property
    def name(self) -> str:
        return f"race: {self.noise}, effects {self.effects}, freed {self.freed:g}"


def false_differences(race: Race) -> list[int]:
    """For each system that equals the baseline, how many studies called it different.

    ``race.visits`` is filled with the visits that each study took.
    """
    seed = int.from_bytes(hashlib.sha256(race.name.encode()).digest(), "big")
    rng = np.random.Generator(np.random.PCG64(seed))
    nulls = [place for place, effect in enumerate(race.effects) if effect == 0.0]
    wrong = [0] * len(nulls)
    for _ in range(race.studies):
        decided = _one_study(race, rng)
        for index, place in enumerate(nulls):
            found = decided.get(place)
            wrong[index] += found is not None and bool(DIFFERENCES & set(found.words))
    return wrong


def _one_study(race: Race, rng: np.random.Generator) -> dict[int, Decision]:
    count = len(race.effects) + 1
    most = BLOCKS * ROUNDS * count
    noise: Values = NOISES[race.noise](rng, most)
    simulated = balanced_fours(PATHS, 2 * ROUNDS * BLOCKS, rng)
    seen: dict[int, list[tuple[bool, float]]] = {place: [] for place in range(count - 1)}
    decided: dict[int, Decision] = {}
    now = 0
    for order in blocks(rng, count, BLOCKS, ROUNDS):
        racing = [place for place in seen if place not in decided]
        if not racing:
            break
        here = [s for s in order if s == 0 or s - 1 in racing]
        gone = race.freed * len(decided)
        for system, value in zip(here, noise[now : now + len(here)] + gone, strict=True):
            effect = race.effects[system - 1] if system else 0.0
            for place in racing if system == 0 else [system - 1]:
                seen[place].append((system != 0, float(value) + effect))
        now += len(here)
        for place in racing:
            found = decide(_stream(seen[place], simulated), MARGIN, ALPHA)
            if found.words:
                decided[place] = found
    race.visits.append(now)
    return decided


def _stream(seen: list[tuple[bool, float]], simulated: Signs) -> Stream:
    other = np.array([row[0] for row in seen], dtype=np.bool_)
    values = np.array([row[1] for row in seen])
    signs = np.where(other, np.int8(1), np.int8(-1))
    pool = pool_of(signs, simulated[: len(seen)])
    return Stream(values, other, pool, 2 * ROUNDS * BLOCKS)


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
