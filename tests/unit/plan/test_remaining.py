"""What the rest of a plan takes, by what its trials took so far."""

from __future__ import annotations

import time

import pytest
from tests.unit.judge.studies import a_record, a_study

from steelyard.cli.session.state import SessionState
from steelyard.plan.budget import remaining_s
from steelyard.plan.make import make_plan
from steelyard.plan.model import Plan, PlannedTrial
from steelyard.plan.words import other_order, plan_lines


@pytest.fixture
def plan() -> Plan:
    return make_plan(a_study(users=(1,)), 3)


def trials_of(plan: Plan) -> list[PlannedTrial]:
    return [trial for visit in plan.visits for trial in visit.trials]


def test_each_system_takes_what_its_own_trials_took(plan: Plan) -> None:
    rest = trials_of(plan)[4:]
    fast = sum(trial.cell.system == "fast" for trial in rest)
    taken = {"fast": {1: 1.0}, "durable": {2: 4.0}}
    assert remaining_s(rest, taken) == fast + 4 * (len(rest) - fast)


def test_nothing_is_forecast_while_a_system_was_not_timed(plan: Plan) -> None:
    rest = trials_of(plan)[2:]
    assert remaining_s(rest, {"fast": {1: 2.0}}) is None
    assert remaining_s(rest, {}) is None
    of_fast = [trial for trial in rest if trial.cell.system == "fast"]
    assert remaining_s(of_fast, {"fast": {1: 2.0}}) == 2 * len(of_fast)


def test_the_first_trial_of_a_system_counts_only_while_it_is_the_only_one(plan: Plan) -> None:
    rest = [trial for trial in trials_of(plan) if trial.cell.system == "fast"]
    assert remaining_s(rest, {"fast": {1: 60.0, 2: 2.0, 5: 2.0}}) == 2 * len(rest)


def test_a_session_corrects_its_forecast_by_the_trials_so_far(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    study = a_study(users=(1,))
    plan, state, now = make_plan(study, 3), SessionState(study), [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    state.starts(plan, 0)
    assert state.left_s() is None
    now[0] = 100.0  # calibration is no part of what trials take
    trials = trials_of(plan)
    for trial, took_s in zip(trials[:6], [9.0, 3.0, 3.0, 3.0, 3.0, 3.0], strict=True):
        state.attempt_starts(trial, 1)
        now[0] += took_s
        state.attempt_ends(a_record(trial, 100.0))
    assert len(trials) == 24
    assert state.left_s() == 54.0


def test_a_plan_says_what_it_assumes_and_that_run_draws_another_order(plan: Plan) -> None:
    text = "\n".join(plan_lines(a_study(users=(1,)), plan))
    assert "300 ms a trial for reset, start and collection, no retries" in text
    assert "--seed 3" in other_order(plan)
