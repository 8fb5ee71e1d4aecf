"""Visits that fall into two groups are named; one wide group is not two."""

from __future__ import annotations

import numpy as np
from tests.unit.judge.studies import a_study, measured, noisy

from steelyard.judge.modes import modes_of
from steelyard.judge.verdict import judge_study
from steelyard.plan.make import make_plan
from steelyard.plan.model import PlannedTrial


def test_two_groups_are_found_with_their_sizes_and_the_ratio() -> None:
    random = np.random.default_rng(1)
    arm = random.normal(0, 0.02, 24) + np.where(np.arange(24) % 3 == 0, 0.3, 0.0)
    found = modes_of(arm)
    assert found is not None
    assert (found.worse, found.better) == (16, 8)
    assert abs(found.ratio_log - 0.3) < 0.03


def test_one_group_is_hardly_ever_called_two() -> None:
    random = np.random.default_rng(2)
    assert sum(modes_of(random.normal(0, 0.02, 24)) is not None for _ in range(100)) <= 1


def test_too_few_or_equal_visits_have_no_groups() -> None:
    assert modes_of(np.array([0.0, 1.0] * 7)) is None
    assert modes_of(np.zeros(24)) is None


def test_the_findings_say_that_a_system_has_two_states() -> None:
    study = a_study(users=(1,), per_cell=24)
    plan = make_plan(study, 3)
    plain = noisy(1.0)

    def two_states(trial: PlannedTrial) -> float | None:
        value = plain(trial)
        turbo = trial.cell.system == "durable" and trial.visit % 3 == 0
        return value if value is None or not turbo else 1.2 * value

    limits = judge_study(study, plan, measured(plan, two_states), run="one").limits
    (told,) = [each for each in limits if "two groups" in each]
    assert told.startswith("The visits of durable fall into two groups: throughput of ")
    assert " better than of the other " in told
