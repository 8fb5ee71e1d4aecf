"""What the simulation of many candidates says at a size that is quick."""

from __future__ import annotations

from tests.calibration.selecting import cell, fixed_visits


def test_of_fifty_candidates_the_best_is_named_nearly_as_cheaply_as_with_the_noise_known() -> None:
    row = cell("one best", "independent 2 %", 50, 8)
    assert row.wrong <= 2
    assert row.ratio < 1.3
    assert row.visits / row.races < fixed_visits(50, 0.02)


def test_of_a_ladder_the_best_is_named_under_noise_that_lasts() -> None:
    row = cell("ladder of a margin", "AR(1) 0.9", 50, 4)
    assert row.wrong == 0
    assert row.ratio < 1.3
