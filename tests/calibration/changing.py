"""Effects that change in size while a study lasts: what estimate and interval then hold."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from pydantic import ValidationError
from tests.calibration.batched import MARGIN
from tests.calibration.cells import Batch, Cell, drawn
from tests.calibration.checks import verdict_of
from tests.calibration.gate import ALPHA
from tests.calibration.noises import Values
from tests.calibration.tally import Tally

from steelyard.inference.exact import Pool
from steelyard.inference.ratio_tests import Inference
from steelyard.inference.stream import Stream
from steelyard.judge.findings import VerdictFinding
from steelyard.judge.kinds.verdict_notes import EffectChanges

PATHS = 1_000
LATER = 10
LOOKS = ("at the stop", "10 visits later", "after 96 visits")
Shape = Callable[[int], Values]


def _step(first: float, second: float, at: int) -> Shape:
    """``first``, and ``second`` from visit ``at`` on, as ratios less 1."""
    return lambda visits: np.where(
        np.arange(1, visits + 1) < at, math.log1p(first), math.log1p(second)
    )


def _ramp(first: float, last: float) -> Shape:
    return lambda visits: np.linspace(math.log1p(first), math.log1p(last), visits)


CHANGES: dict[str, Shape] = {
    "0, then 5 % from visit 13": _step(0.0, 0.05, 13),
    "10 %, then 15 % from visit 11": _step(0.10, 0.15, 11),
    "8 %, then 4 % from visit 13": _step(0.08, 0.04, 13),
    "5 to 10 % evenly": _ramp(0.05, 0.10),
}
CONSTANT: dict[str, Shape] = {
    "0 % throughout": _step(0.0, 0.0, 1),
    "2 % throughout": _step(0.02, 0.02, 1),
    "5 % throughout": _step(0.05, 0.05, 1),
}
SHAPES = CHANGES | CONSTANT


@dataclass(frozen=True)
class Changing:
    """A population of studies with independent noise and an effect of this shape."""

    shape: str

    @property
    def cell(self) -> Cell:
        return Cell("independent 2 %", paths=PATHS)

    def drawn(self, batch: int, studies: int) -> tuple[Batch, Values]:
        """Studies, and the true effect at each visit."""
        effects = SHAPES[self.shape](self.cell.horizon)
        found = drawn(self.cell, batch, studies)
        return replace(found, values=found.values + effects * (found.signs.T > 0)), effects


def followed(case: Changing, batch: int, studies: int) -> Tally:
    """What is printed at each of ``LOOKS``: whether the mean effect so far is held, whether the
    estimate is outside its interval, whether a change is told. Studies that had none count as
    not having had the look.
    """
    population, effects = case.drawn(batch, studies)
    counts: Counter[str] = Counter()
    for number in range(studies):
        for look, visits in _looks(case.cell, population, number):
            counts[f"looks {look}"] += 1
            try:
                found = verdict_of(population, number, case.cell, visits=visits)
            except ValidationError:  # findings refuse an estimate outside its interval
                counts[f"outside {look}"] += 1
                continue
            counts[f"held {look}"] += _holds(found, float(effects[:visits].mean()))
            counts[f"told {look}"] += any(isinstance(n, EffectChanges) for n in found.reasons)
    return Tally(studies, counts)


def _looks(cell: Cell, population: Batch, number: int) -> Iterator[tuple[str, int]]:
    """The looks that a study has, each with its visits."""
    values, signs = population.values[number], population.signs[:, number]
    pool = Pool(signs, population.simulated)
    stream = Stream(values, signs > 0, pool, cell.horizon)
    at = Inference.of(stream).decide(MARGIN, ALPHA).at
    if at is not None:
        yield LOOKS[0], at
        if at + LATER <= cell.horizon:
            yield LOOKS[1], at + LATER
    yield LOOKS[2], cell.horizon


def _holds(found: VerdictFinding, truth: float) -> bool:
    low, high = found.low_log, found.high_log
    return (low is None or low <= truth) and (high is None or truth <= high)
