"""Twelve warm-ups: what is kept is steady to a quarter of the margin, or the window is refused."""

from __future__ import annotations

import pytest
from tests.calibration.warmups import MARGIN_LOG, SHAPES, safe, series

from steelyard.judge.analyses.steadiness.findings import Steadiness
from steelyard.judge.analyses.steadiness.steady import steady

SLICE, WHOLE = 20, 400


def states(name: str, count: int, trials: int) -> list[Steadiness]:
    return [steady(series(SHAPES[name], n, trials), MARGIN_LOG).state for n in range(count)]


@pytest.mark.parametrize("name", SHAPES)
def test_a_slice_of_warmups_is_left_out_or_refused(name: str) -> None:
    assert sum(safe(name, seed, 8) for seed in range(SLICE)) >= SLICE - 2


def test_a_slice_of_flat_courses_of_many_trials_is_called_steady() -> None:
    assert states("flat", SLICE, 24).count(Steadiness.STEADY) >= 0.8 * SLICE


def test_a_slice_of_early_steps_is_steady_later() -> None:
    found = states("a step of 10 % after 60 s", SLICE, 24)
    assert found.count(Steadiness.STEADY_LATER) >= 0.8 * SLICE


@pytest.mark.validate
@pytest.mark.parametrize("trials", [1, 8, 24])
@pytest.mark.parametrize("name", SHAPES)
def test_95_percent_of_warmups_are_left_out_or_refused(name: str, trials: int) -> None:
    assert sum(safe(name, seed, trials) for seed in range(WHOLE)) >= 0.95 * WHOLE


@pytest.mark.validate
def test_flat_courses_of_many_trials_are_called_steady() -> None:
    assert states("flat", WHOLE, 24).count(Steadiness.STEADY) >= 0.85 * WHOLE
