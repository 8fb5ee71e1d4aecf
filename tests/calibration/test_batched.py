"""Many studies at once are judged as each by itself."""

from __future__ import annotations

import numpy as np
import pytest
from tests.calibration.batched import MARGIN, judged
from tests.calibration.cells import Cell, drawn
from tests.calibration.gate import ALPHA

from steelyard.inference.exact import Pool
from steelyard.inference.ratio_tests import Inference
from steelyard.inference.stream import Stream

CELLS = (
    Cell("independent 2 %", horizon=48, paths=1_000),
    Cell("independent 2 %", effect=0.03, horizon=48, paths=1_000),
    Cell("quantised to 4 %", effect=0.05, horizon=32, paths=1_000),
    Cell("AR(1) 0.9", design="four", effect=MARGIN, horizon=32, paths=1_000),
    Cell("step 6 %", effect=MARGIN, canary=True, horizon=32, paths=1_000),
)


@pytest.mark.parametrize("cell", CELLS, ids=lambda cell: cell.name)
def test_words_and_looks_are_those_of_the_judge_on_each_study_alone(cell: Cell) -> None:
    batch = drawn(cell, 0, 6)
    outcomes = judged(batch, cell.horizon)
    assert len(outcomes) == 6 * cell.comparisons
    for index, outcome in enumerate(outcomes):
        signs = batch.signs[:, index]
        pool = Pool(signs, batch.simulated)
        canary = None if batch.canary is None else batch.canary[index]
        stream = Stream(batch.values[index], signs > 0, pool, cell.horizon, covariate=canary)
        alone = Inference.of(stream).decide(MARGIN, ALPHA)
        assert (outcome.words, outcome.at) == (alone.words, alone.at)


def test_every_study_of_a_batch_has_an_order_and_a_noise_of_its_own() -> None:
    batch = drawn(Cell("independent 2 %", horizon=24, paths=100), 0, 5)
    assert len({batch.signs[:, index].tobytes() for index in range(5)}) == 5
    assert len({batch.values[index].tobytes() for index in range(5)}) == 5


def test_every_block_of_four_systems_holds_each_of_a_pair_twice_in_any_order() -> None:
    batch = drawn(Cell("independent 2 %", design="four", horizon=24, paths=100), 0, 200)
    fours = batch.signs.reshape(6, 4, -1)
    assert (fours.sum(axis=1) == 0).all()
    orders = fours.transpose(0, 2, 1).reshape(-1, 4)
    _, counts = np.unique(orders, axis=0, return_counts=True)
    assert len(counts) == 6
    assert abs(counts / counts.sum() - 1 / 6).max() < 0.03


def test_the_same_batch_is_the_same_and_the_next_is_another() -> None:
    cell = Cell("AR(1) 0.9", horizon=24, paths=100)
    assert (drawn(cell, 0, 3).values == drawn(cell, 0, 3).values).all()
    assert (drawn(cell, 0, 3).values != drawn(cell, 1, 3).values).any()
