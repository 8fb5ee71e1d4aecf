"""A budget that is extended goes on with the order that was drawn before the first trial."""

from __future__ import annotations

import pytest
from tests.unit.judge.studies import a_study

from steelyard.errors import RecordError
from steelyard.judge.visits.pairs import Pair, horizon_of
from steelyard.plan.extension import extended
from steelyard.plan.make import make_plan
from steelyard.plan.model import Plan


@pytest.mark.parametrize("names", [("one", "two"), ("one", "two", "three")])
def test_the_visits_there_were_stay_and_as_many_follow_by_random_assignment(
    names: tuple[str, ...],
) -> None:
    plan = make_plan(a_study(names), seed=7)
    longer = extended(plan)
    assert longer.visits[: len(plan.visits)] == plan.visits
    assert tuple(visit.system for visit in longer.visits) == plan.assignment
    trials = [trial.trial for visit in longer.visits for trial in visit.trials]
    assert trials == list(range(1, len(trials) + 1))


def test_the_judge_goes_on_by_the_budget_there_was_before() -> None:
    plan = make_plan(a_study(), seed=7)
    pair = Pair("fast", "durable")
    assert horizon_of(extended(plan), pair) == horizon_of(plan, pair) == len(plan.visits)


def test_an_extended_plan_is_distinguished_from_one_that_was_so_long_from_the_start() -> None:
    plan = make_plan(a_study(), seed=7)
    assert plan.budget_visits is None
    assert extended(plan).budget_visits == len(plan.visits)
    assert extended(plan).budgeted == plan.visits


def test_visits_that_are_drawn_otherwise_today_are_refused_and_never_mixed() -> None:
    plan = make_plan(a_study(), seed=7)
    other = Plan.model_validate(plan.model_dump() | {"seed": 8})
    with pytest.raises(RecordError, match="cannot be drawn again"):
        extended(other)
