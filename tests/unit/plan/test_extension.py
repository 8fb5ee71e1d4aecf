"""Visits that are added to a plan go on with the order that was drawn before the first trial."""

from __future__ import annotations

import pytest
from tests.unit.judge.studies import a_study

from steelyard.errors import RecordError
from steelyard.judge.visits.pairs import Pair, horizon_of
from steelyard.plan.extension import extended, lengthened
from steelyard.plan.make import make_plan
from steelyard.plan.model import Plan
from steelyard.records.events import BudgetExtended, VisitsTimed
from steelyard.records.sessions import plan_after


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


@pytest.mark.parametrize("names", [("one", "two"), ("one", "two", "three")])
def test_a_plan_of_more_visits_is_what_it_would_have_been_from_the_start(
    names: tuple[str, ...],
) -> None:
    short, long = (make_plan(a_study(names, per_cell=each), seed=7) for each in (12, 40))
    found = lengthened(short, len(long.visits))
    assert (found.visits, found.assignment) == (long.visits, long.assignment)
    assert found.assumed_visits == len(short.visits)
    assert extended(found).visits == extended(long).visits


def test_the_judge_spends_by_the_visits_that_the_time_holds() -> None:
    plan = make_plan(a_study(), seed=7)
    pair = Pair("fast", "durable")
    more = len(plan.visits) + 10
    assert horizon_of(lengthened(plan, more), pair) == more
    assert horizon_of(extended(lengthened(plan, more)), pair) == more


def test_what_the_ledger_says_is_added_to_the_plan_once() -> None:
    plan = make_plan(a_study(), seed=7)
    count = len(plan.visits)
    timed = VisitsTimed(visits=count + 4, visits_before=count)
    longer = BudgetExtended(visits=2 * count + 8, visits_before=count + 4)
    found = plan_after(plan, [timed, longer, longer])
    assert (len(found.visits), found.budget_visits) == (2 * count + 8, count + 4)
    assert found.assumed_visits == count


@pytest.mark.parametrize("count", [0, 10**9])
def test_a_number_of_visits_that_no_plan_has_is_refused(count: int) -> None:
    plan = make_plan(a_study(), seed=7)
    with pytest.raises(RecordError, match="cannot be drawn again"):
        lengthened(plan, count)
