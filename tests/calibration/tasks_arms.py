"""What validation simulates of the engine on pairs, of canaries and of stalls: G20 to G22."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator

import numpy as np
from tests.calibration.batched import MARGIN
from tests.calibration.cells import HORIZON, generator_of
from tests.calibration.gate import ALPHA
from tests.calibration.noises import NOISES
from tests.calibration.tally import Tally, Task

from steelyard.inference.assumption import PairedNormal
from steelyard.inference.exact import pool_of
from steelyard.inference.sequential import DECISIVE, VerdictWord
from steelyard.inference.stream import Stream

NORMAL_EFFECTS = (0.0, MARGIN, math.log(1.05), math.log(1.087))


def on_pairs() -> Iterator[Task]:
    """G20: the engine `normal` on every noise; its stops on the noise that it takes for granted."""
    for noise in NOISES:
        yield _task(noise, 0.0)
    for effect in NORMAL_EFFECTS[1:]:
        yield _task("independent 2 %", effect)


def _task(noise: str, effect: float) -> Task:
    name = f"{noise}, effect {effect:.4f}"

    def run(batch: int, studies: int) -> Tally:
        return _judged(name, noise, effect, batch, studies)

    return Task("G20", name, {"noise": noise, "effect": effect}, run)


def _judged(name: str, noise: str, effect: float, batch: int, studies: int) -> Tally:
    """Words at the stop, and whether 0 is put out at any look of the whole budget."""
    rng = generator_of(f"pairs: {name}", batch)
    words: Counter[str] = Counter()
    stops: Counter[int] = Counter()
    for _ in range(studies):
        stream = _study(noise, effect, rng)
        tests = PairedNormal().tests(stream)
        found = tests.decide(MARGIN, ALPHA)
        words.update(str(word) for word in found.words if word in DECISIVE)
        words["undecided"] += not found.words
        words["opposite"] += VerdictWord.SLOWER in found.words and effect > 0
        [(_, (low, high))] = tests.sizes(MARGIN, [ALPHA / 2], 0.0)
        words["wrong"] += (low is not None and low > 0) or (high is not None and high < 0)
        stops[found.at or HORIZON] += 1
    return Tally(studies, words, stops)


def _study(noise: str, effect: float, rng: np.random.Generator) -> Stream:
    """Pairs of visits, each in an order of its own coin, written again apart from the judge's."""
    first = rng.random(HORIZON // 2) < 0.5
    other = np.stack([first, ~first], axis=1).ravel()
    values = NOISES[noise](rng, HORIZON) + effect * other
    signs = np.where(other, np.int8(1), np.int8(-1))
    return Stream(values, other, pool_of(signs, signs[:, None]), HORIZON)
