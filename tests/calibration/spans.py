"""What a span of time buys where one system alone feels a slow part of the machine.

Time is counted in visits that take the same time each. A decision waits until so many visits have
passed and is then borne by all of them, as ``judge/comparisons/span.py`` demands.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace

import numpy as np
from tests.calibration.batched import MARGIN, Outcome, judged
from tests.calibration.cells import HORIZON, Batch, Cell, drawn, generator_of
from tests.calibration.gate import ALPHA
from tests.calibration.own_parts import autocorrelated, first, noted
from tests.calibration.tally import Tally

from steelyard.inference.ratio_tests import Inference
from steelyard.inference.sequential import VerdictWord
from steelyard.judge.comparisons.comparison import ASKED_AGAIN
from steelyard.judge.comparisons.span import holds_now

PATHS = 1_000
SPANS = (0, 24, 48, 96)
"""In visits; 0 without a span."""
_DIFFERENCES = {VerdictWord.FASTER, VerdictWord.SLOWER}


@dataclass(frozen=True)
class Spanned:
    """Studies with independent noise of 2 %; the other system has an effect, and feels a slow part
    of this deviation that lasts for some visits (the e-folding time of its autocorrelation).
    """

    sd: float
    lasts: int
    effect: float = 0.0

    @property
    def name(self) -> str:
        if not self.sd:
            return f"span: {math.expm1(self.effect):.0%}, no slow part"
        return f"span: equal, {self.sd:.0%} that lasts {self.lasts} visits"

    @property
    def cell(self) -> Cell:
        return Cell("independent 2 %", effect=self.effect, paths=PATHS)

    def drawn(self, batch: int, studies: int) -> Batch:
        rng = generator_of(self.name, batch)
        part = autocorrelated(math.exp(-1 / self.lasts))
        own = np.array([part(rng, HORIZON) for _ in range(studies)])
        found = drawn(self.cell, batch, studies)
        return replace(found, values=found.values + self.sd * own * (found.signs.T > 0))


CASES = (
    *(Spanned(sd, lasts) for lasts in (10, 50) for sd in (0.02, 0.04)),
    Spanned(0.0, 1),
    Spanned(0.0, 1, math.log(1.05)),
)


def spanned(case: Spanned, batch: int, studies: int) -> Tally:
    """For each span: differences, those without the note beside them, equivalences, visits."""
    population = case.drawn(batch, studies)
    counts: Counter[str] = Counter()
    for number, outcome in enumerate(judged(population, HORIZON)):
        for span in SPANS:
            words, visits = _after(span, outcome, population, number)
            counts[f"{span}: visits"] += visits
            counts[f"{span}: equivalent"] += VerdictWord.EQUIVALENT in words
            if _DIFFERENCES & set(words):
                counts[f"{span}: different"] += 1
                counts[f"{span}: not noted"] += not noted(population, number, visits)
    return Tally(studies, counts)


def _after(
    span: int, outcome: Outcome, population: Batch, number: int
) -> tuple[tuple[VerdictWord, ...], int]:
    """The words with this span, and the visits that they took."""
    if outcome.at is None:
        return (), HORIZON
    visits = max(outcome.at, span)
    while span:
        tests = Inference.of(first(population, number, visits))
        if all(holds_now(word, tests, MARGIN, ALPHA) for word in outcome.words):
            break
        if visits == HORIZON:
            return (), HORIZON
        visits = min(math.ceil(ASKED_AGAIN * visits), HORIZON)
    return outcome.words, visits
