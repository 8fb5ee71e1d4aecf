"""Systems that are dropped must not make the verdicts on the others less certain."""

from __future__ import annotations

import pytest
from tests.calibration.gate import most_allowed
from tests.calibration.races import EQUAL, UNLIKE, Race, cases, false_differences


@pytest.mark.parametrize("freed", [0.0, 0.06])
def test_a_slice_of_eliminations_calls_equal_systems_different_in_five_percent_at_most(
    freed: float,
) -> None:
    race = Race("independent 2 %", UNLIKE, 40, freed)
    assert all(wrong <= most_allowed(race.studies) for wrong in false_differences(race))


def test_an_elimination_saves_the_visits_of_those_that_have_left() -> None:
    early, none = Race("independent 2 %", UNLIKE, 20), Race("independent 2 %", EQUAL, 20)
    false_differences(early)
    false_differences(none)
    assert sum(early.visits) < sum(none.visits)


@pytest.mark.validate
@pytest.mark.parametrize("race", cases(500), ids=lambda race: race.name)
def test_five_hundred_eliminations_call_equal_systems_different_in_five_percent_at_most(
    race: Race,
) -> None:
    assert all(wrong <= most_allowed(race.studies) for wrong in false_differences(race))
