"""Two short trials of each system tell how long a plan takes."""

from __future__ import annotations

import time
from collections import Counter

import pytest
from tests.unit.judge.studies import a_record, a_study

from steelyard.plan.budget import retimed
from steelyard.plan.make import make_plan
from steelyard.plan.words import plan_lines
from steelyard.records.schema import AttemptFailure, Outcome
from steelyard.study.model import BudgetSpec
from steelyard.trial.pilot import Stopwatch, pilot_plan, pilot_study


def test_a_pilot_has_two_trials_of_each_system_in_the_order_of_the_plan() -> None:
    plan = make_plan(a_study(users=(1, 4, 16)), 3)
    pilot = pilot_plan(plan)
    trials = [trial for visit in pilot.visits for trial in visit.trials]
    assert Counter(trial.cell.system for trial in trials) == {"fast": 2, "durable": 2}
    planned = [trial for visit in plan.visits for trial in visit.trials]
    assert all(trial in planned for trial in trials)


def test_a_pilot_measures_shortly_and_without_calibration() -> None:
    study = pilot_study(a_study(users=(1,)))
    assert study.trials.window_s <= 1
    assert (study.trials.budget, study.generator.calibrate) == (BudgetSpec(), False)


def test_the_second_trial_of_each_system_is_the_forecast_at_the_full_window(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    study, now = a_study(users=(1,)), [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    plan, watch = make_plan(study, 3), Stopwatch(study)
    pilot, short = pilot_plan(plan), pilot_study(study).trials
    more_s = study.trials.window_s + study.trials.warmup_s - short.window_s - short.warmup_s
    took_s = {"fast": iter([9.0, 2.0]), "durable": iter([30.0, 6.0])}
    for trial in (trial for visit in pilot.visits for trial in visit.trials):
        watch.attempt_starts(trial, 1)
        now[0] += next(took_s[trial.cell.system])
        watch.attempt_ends(a_record(trial, 100.0))
    assert watch.trial_s() == {"fast": 2.0 + more_s, "durable": 6.0 + more_s}


def test_a_failed_trial_is_no_measure_of_time() -> None:
    study = a_study(users=(1,))
    plan, watch = make_plan(study, 3), Stopwatch(study)
    trial = plan.visits[0].trials[0]
    why = AttemptFailure(phase="start", message="no port", hint="free one")
    failed = a_record(trial, 100.0).model_copy(
        update={"outcome": Outcome.SERVICE_DIED, "failure": why}
    )
    watch.attempt_starts(trial, 1)
    watch.attempt_ends(failed)
    assert (watch.trial_s(), [each.message for each in watch.failed]) == ({}, ["no port"])


def test_a_timed_forecast_counts_every_trial_and_leaves_the_order() -> None:
    study = a_study(users=(1, 4))
    plan = make_plan(study, 3)
    planned = plan.forecast
    timed = retimed(plan, {"fast": planned.trial_s + 1, "durable": planned.trial_s + 3})
    trials = sum(len(visit.trials) for visit in plan.visits)
    assert timed.forecast.total_s == pytest.approx(planned.total_s + 2 * trials)
    assert timed.forecast.visit_s == pytest.approx(planned.visit_s + 2 * 2)
    assert timed.visits == plan.visits
    words = [line.split()[0] for line in plan_lines(study, timed) if line.strip()]
    assert "timed" in words
    assert "assumed" not in words
