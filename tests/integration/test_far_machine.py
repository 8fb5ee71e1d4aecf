"""A machine whose clock is off, is set meanwhile, or whose agent is of another version."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from steelyard.records.archive import Run, open_run
from steelyard.records.events import AttemptStarted, SessionOpened, WallClocksCompared
from steelyard.records.ledger import Ledger
from steelyard.records.sessions import spent_ns
from steelyard.records.steady_clock import now_unix_ns
from steelyard.records.warnings import WarningKind
from tests.integration.conftest import Steelyard, first_in_every_run
from tests.integration.far_machine import ADDRESS, Far, far

__all__ = ["far"]

MINUTES = 60 * 10**9
STUDY = f"""\
study: far
question: Does the second of two equal places sleep as long as the first?
systems:
  one: {{platform: native, host_machine: {ADDRESS}}}
  two: {{platform: native, host_machine: {ADDRESS}}}
workload: {{command: [sleep, "0.05"]}}
trials: {{margin: 50 %, settle: 0, reset: service, retry: 0, budget: {{trials: 6 per cell}}}}
"""


@pytest.fixture
def study(steelyard: Steelyard) -> Path:
    path = steelyard.folder / "study.yaml"
    path.write_text(STUDY, encoding="utf-8")
    return path


def run_of(steelyard: Steelyard) -> Run:
    return open_run(steelyard.folder / "results" / "far")


@pytest.mark.usefixtures("study")
@pytest.mark.parametrize("ahead_ns", first_in_every_run([-5 * MINUTES, 5 * MINUTES]))
def test_a_clock_that_is_minutes_off_is_named_and_kept_and_moves_no_figure(
    steelyard: Steelyard, far: Far, ahead_ns: int
) -> None:
    far.says(ahead_ns=ahead_ns)
    done = steelyard.run("run", ".", "--seed", "1")
    assert done.returncode == 0, done.stderr
    assert ADDRESS in done.stderr
    assert f"5 min {'ahead of' if ahead_ns > 0 else 'behind'}" in done.stderr
    run = run_of(steelyard)
    (compared,) = (each for each in run.events() if isinstance(each, WallClocksCompared))
    (wall,) = compared.machines
    assert wall.machine == ADDRESS
    assert abs(wall.ahead_ns - ahead_ns) < 10**9
    assert 0 < wall.uncertainty_ns < 10**9
    assert_no_duration_is_negative(run)
    kinds = {warning.kind for record in run.records() for warning in record.warnings}
    assert not kinds & {WarningKind.CLOCK_STEP, WarningKind.CLOCK_DRIFT}


def assert_no_duration_is_negative(run: Run) -> None:
    events, records = run.events(), run.records()
    assert records
    times = [event.at_unix_ns for event in events]
    assert times == sorted(times)
    assert spent_ns(events) > 0
    for record in records:
        assert record.started_unix_ns <= record.finished_unix_ns
        assert all(spent >= 0 for spent in record.phases_ns.values())
        took = record.value("run_time")
        assert took is None or took > 0


@pytest.mark.usefixtures("study")
def test_doctor_and_the_changes_of_a_plan_name_a_clock_that_is_off(
    steelyard: Steelyard, far: Far
) -> None:
    far.says(ahead_ns=5 * MINUTES)
    examined = steelyard.run("doctor", ".", "--json")
    checks = [each for each in json.loads(examined.stdout) if each["name"] == "wall clock"]
    assert [(each["machine"], each["verdict"]) for each in checks] == [(ADDRESS, "note")]
    assert "5 min ahead of" in checks[0]["value"]
    assert checks[0]["remedy"]
    planned = json.loads(steelyard.run("plan", ".", "--changes", "--json").stdout)
    assert abs(planned["wall_clocks"][ADDRESS]["ahead_ns"] - 5 * MINUTES) < 10**9
    said = steelyard.run("plan", ".", "--changes").stdout
    assert f"{ADDRESS} is 5 min ahead of" in said


CLOCKS_BEFORE_THE_FIRST_LOAD = 10
"""Nine of the look before anything is started, one before the load."""


@pytest.mark.usefixtures("study")
@pytest.mark.parametrize("step_ns", first_in_every_run([-3 * MINUTES, 3 * MINUTES]))
def test_a_clock_that_is_set_during_a_trial_is_a_warning_of_that_trial_with_its_sign(
    steelyard: Steelyard, far: Far, step_ns: int
) -> None:
    far.says(step_ns=step_ns, clocks_before=CLOCKS_BEFORE_THE_FIRST_LOAD)
    done = steelyard.run("run", ".", "--seed", "1")
    assert done.returncode == 0, done.stderr
    run = run_of(steelyard)
    steps = [
        (record.trial, warning.figures)
        for record in run.records()
        for warning in record.warnings
        if warning.kind is WarningKind.CLOCK_STEP
    ]
    ((trial, figures),) = steps
    assert trial == 1
    assert figures["machine"] == "system"
    assert abs(float(figures["step_ns"]) - step_ns) < 10**9
    assert_no_duration_is_negative(run)


def test_a_trial_that_is_timed_by_a_clock_that_was_set_does_not_count(
    steelyard: Steelyard, far: Far, study: Path
) -> None:
    study.write_text(STUDY + "clock: system\n", encoding="utf-8")
    far.says(step_ns=3 * MINUTES, clocks_before=CLOCKS_BEFORE_THE_FIRST_LOAD)
    steelyard.run("run", ".", "--seed", "1")
    outcomes = {record.trial: record.outcome.value for record in run_of(steelyard).records()}
    assert outcomes.pop(1) == "invalid"
    assert set(outcomes.values()) == {"ok"}


@pytest.mark.usefixtures("study")
def test_an_agent_of_another_version_is_refused_before_anything_is_started(
    steelyard: Steelyard, far: Far
) -> None:
    far.says(version="0.0.7")
    done = steelyard.run("run", ".")
    assert done.returncode == 3
    assert "0.0.7" in done.stderr
    assert ADDRESS in done.stderr
    assert "hint" in done.stderr
    assert not [each for each in run_of(steelyard).events() if isinstance(each, AttemptStarted)]
    examined = steelyard.run("doctor", ".", "--json")
    assert examined.returncode == 3
    assert "0.0.7" in examined.stdout


def test_a_session_does_not_begin_before_the_last_event_of_the_one_before(
    after_a_run: Steelyard,
) -> None:
    run = open_run(after_a_run.folder / "results" / "tiny")
    with Ledger(run.ledger_path) as ledger:
        ledger.append(SessionOpened(at_unix_ns=now_unix_ns() + 60 * MINUTES))
    before = run.ledger_path.read_bytes()
    done = after_a_run.run("resume", str(run.path))
    assert done.returncode == 3
    assert "#clock-is-behind-the-run" in done.stderr
    assert run.ledger_path.read_bytes() == before
    assert after_a_run.run("report", str(run.path)).returncode in {0, 1}
    assert after_a_run.run("restore", str(run.path)).returncode == 0
