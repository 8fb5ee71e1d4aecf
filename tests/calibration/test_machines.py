"""Machines of different effects and noises must not look like a difference on all of them."""

from __future__ import annotations

import pytest
from tests.calibration.gate import most_allowed
from tests.calibration.machines import CASES, Laboratory, false_on_all

STUDIES = 24


@pytest.mark.parametrize("scales", [(1.0, 1.0, 1.0), (0.5, 1.0, 3.0)])
def test_a_slice_of_machines_whose_effects_cancel_is_called_different_in_five_percent_at_most(
    scales: tuple[float, ...],
) -> None:
    case = Laboratory("independent 2 %", scales, (0.05, 0.0, -0.05), visits=12, paths=300)
    assert false_on_all(case, 0, STUDIES) <= most_allowed(STUDIES)


@pytest.mark.validate
@pytest.mark.parametrize("case", [each for each in CASES if not each.sampled], ids=lambda c: c.name)
def test_five_hundred_studies_call_machines_different_on_the_mean_in_five_percent_at_most(
    case: Laboratory,
) -> None:
    assert false_on_all(case, 0, 500) <= most_allowed(500)
