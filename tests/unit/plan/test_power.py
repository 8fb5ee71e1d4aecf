"""What a budget is said to find, and a budget that the command line gives instead."""

from __future__ import annotations

import math

import pytest
from tests.unit.judge.studies import a_study

from steelyard.inference.reach import found_log
from steelyard.judge.analyses.planning.reachable import reaches
from steelyard.plan.budget import time_s, with_time
from steelyard.plan.make import make_plan


def test_four_times_the_visits_find_half_the_difference() -> None:
    of_hundred = found_log(100, 0.05, 0.025, 0.001)
    assert found_log(400, 0.05, 0.025, 0.001) == pytest.approx(of_hundred / 2)
    assert found_log(100, 0.10, 0.025, 0.001) == pytest.approx(2 * of_hundred)


def test_nothing_below_the_margin_is_said_to_be_found() -> None:
    assert found_log(1_000, 0.02, 0.025, 0.05) == 0.05


def test_what_is_found_is_computed_for_each_noise_that_is_asked_for() -> None:
    study = a_study()
    for reach in reaches(study, make_plan(study, 5), [0.02, 0.2]):
        assert set(reach.found_log) == {0.02, 0.2}
        assert all(0 < size < math.inf for size in reach.found_log.values())


def test_a_given_time_replaces_the_whole_budget_and_is_kept_with_the_plan() -> None:
    study = a_study(per_cell=6)
    longer = make_plan(with_time(study, 900), 5)
    assert len(longer.visits) > len(make_plan(study, 5).visits)
    kept = longer.model_copy(update={"budget_time_s": 900.0})
    assert time_s(study, kept) == 900
    assert time_s(study, longer) == study.trials.budget.time_s
