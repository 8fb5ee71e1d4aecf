"""A slice of the goals on the judge as shipped; ``make validate`` runs the whole."""

from __future__ import annotations

import math

import pytest
from tests.calibration.batched import MARGIN
from tests.calibration.checks import Check, at_the_margin, covered, equal, found
from tests.calibration.gate import most_allowed
from tests.calibration.noises import FOUR

from steelyard.inference.sequential import VerdictWord

FASTER, EQUIVALENT = VerdictWord.FASTER, VerdictWord.EQUIVALENT
GOALS: dict[str, Check] = {
    **{f"equal systems, {noise}": equal(noise, 150) for noise in FOUR},
    "four equal systems": equal("drift 0.4 % a visit", 60, design="four"),
    "a difference of the margin": at_the_margin("independent 2 %", 100),
    "9 % are found within some visits": found("independent 2 %", math.log(1.09), FASTER, 20),
    "equal systems are equivalent": found("independent 2 %", 0.0, EQUIVALENT, 60),
    "the interval holds a ratio of 5": covered("independent 2 %", 1.6, 40),
    "the interval holds the margin": covered("AR(1) 0.9", MARGIN, 40),
}


def test_the_bound_of_two_thousand_studies_is_just_above_six_percent() -> None:
    assert most_allowed(2_000) / 2_000 == pytest.approx(0.0615, abs=0.0005)


@pytest.mark.parametrize("goal", GOALS)
def test_the_judge_as_shipped_keeps_what_it_promises(goal: str) -> None:
    assert GOALS[goal]() is None
