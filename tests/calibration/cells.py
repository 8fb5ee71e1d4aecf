"""What is simulated: one noise, one design, one true effect. Seeds follow from names."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
from tests.calibration.noises import SD, Values, heard, named, stalls

from steelyard.inference import randomisation
from steelyard.inference.randomisation import PATHS, Signs
from steelyard.plan.order import ROUNDS, blocks

Design = Literal["two", "four"]

HORIZON = 96
DESIGNS: dict[Design, str] = {
    "two": "2 systems, big-stick coin",
    "four": "4 systems, blocks of two rounds",
}
_OTHERS = {"two": 1, "four": 3}


@dataclass(frozen=True)
class Cell:
    """A population of studies.

    ``effect`` is the true ratio of every other system as a natural logarithm. The others have
    independent noise of their own besides, so that their independent part is ``spread`` times
    that of the baseline, and this share of their visits stalls (``stalls``). ``canary``: what the
    machine does is heard before each visit. ``horizon`` is the budget of each comparison in visits.
    """

    noise: str
    design: Design = "two"
    effect: float = 0.0
    spread: float = 1.0
    horizon: int = HORIZON
    paths: int = PATHS
    stalls: float = 0.0
    canary: bool = False

    @property
    def name(self) -> str:
        parts = [self.noise, self.design, f"effect {self.effect:.4f}"]
        parts += [f"spread {self.spread:g}"] if self.spread != 1 else []
        parts += [f"stalls {self.stalls:g}"] if self.stalls else []
        parts += ["canary of three parts"] if self.canary else []
        parts += [f"horizon {self.horizon}"] if self.horizon != HORIZON else []
        parts += [f"paths {self.paths}"] if self.paths != PATHS else []
        return ", ".join(parts)

    @property
    def comparisons(self) -> int:
        """Comparisons to the baseline in each study; they share the error rate."""
        return _OTHERS[self.design]


@dataclass(frozen=True)
class Batch:
    """Studies that share their simulated orders.

    ``values`` (comparisons, visits), ``signs`` (visits, comparisons), ``simulated`` (visits,
    paths), ``canary`` (comparisons, visits, parts). The comparisons of a study stand together.
    """

    values: Values
    signs: Signs
    simulated: Signs
    canary: Values | None = None


def generator_of(name: str, batch: int) -> np.random.Generator:
    """The SHA-256 of the cell's name and the number of the batch: it cannot be chosen."""
    digest = hashlib.sha256(f"{name}, batch {batch}".encode()).digest()
    return np.random.Generator(np.random.PCG64(int.from_bytes(digest, "big")))


def drawn(cell: Cell, batch: int, studies: int) -> Batch:
    """The next studies of a cell, each measured to the end of its budget."""
    rng = generator_of(cell.name, batch)
    canary = None
    if cell.canary:
        signs, noise, canary = _two_heard(cell, rng, studies)
    else:
        draw = _two if cell.design == "two" else _four
        signs, noise = draw(cell, rng, studies)
    other = signs.T > 0
    values = noise + cell.effect * other
    if cell.spread != 1:
        values += other * rng.normal(0.0, SD * np.sqrt(cell.spread**2 - 1), values.shape)
    if cell.stalls:
        own = np.array([stalls(rng, cell.horizon, cell.stalls) for _ in values])
        values += other * own
    # Asked for by its module, so that a planted mistake in the coin is drawn here as well.
    law = randomisation.big_stick if cell.design == "two" else randomisation.balanced_fours
    return Batch(values, signs, law(cell.paths, cell.horizon, rng), canary)


def noise_of(cell: Cell, batch: int, studies: int) -> Values:
    """The noise of the same studies of two systems, for rules that draw an order of their own."""
    rng = generator_of(cell.name, batch)
    return np.array([named(cell.noise)(rng, cell.horizon) for _ in range(studies)])


def _two(cell: Cell, rng: np.random.Generator, studies: int) -> tuple[Signs, Values]:
    noise = np.array([named(cell.noise)(rng, cell.horizon) for _ in range(studies)])
    return big_stick(studies, cell.horizon, rng), noise


def _two_heard(cell: Cell, rng: np.random.Generator, studies: int) -> tuple[Signs, Values, Values]:
    """Two systems, and what the reference kernel saw before each of their visits."""
    known = [heard(cell.noise, rng, cell.horizon) for _ in range(studies)]
    values, canary = (np.array(each) for each in zip(*known, strict=True))
    return big_stick(studies, cell.horizon, rng), values, canary


def _four(cell: Cell, rng: np.random.Generator, studies: int) -> tuple[Signs, Values]:
    """Whole blocks; each comparison sees the places of its pair in every block. Nobody leaves."""
    systems = 1 + cell.comparisons
    count = cell.horizon // (2 * ROUNDS)
    signs, noise = [], []
    for _ in range(studies):
        order = np.array([one for block in blocks(rng, systems, count, ROUNDS) for one in block])
        seen = named(cell.noise)(rng, len(order))
        for other in range(1, systems):
            own = (order == 0) | (order == other)
            signs.append(np.where(order[own] == other, np.int8(1), np.int8(-1)))
            noise.append(seen[own])
    return np.array(signs).T, np.array(noise)


def big_stick(count: int, length: int, rng: np.random.Generator) -> Signs:
    """The coin of a study with tolerance 2, written again: the observed order never follows a
    mistake in what the judge simulates.
    """
    signs = np.empty((length, count), dtype=np.int8)
    lead: npt.NDArray[np.int64] = np.zeros(count, dtype=np.int64)
    for visit in range(length):
        fair = 2 * rng.integers(0, 2, count) - 1
        signs[visit] = np.where(np.abs(lead) >= 2, -np.sign(lead), fair)
        lead += signs[visit]
    return signs
