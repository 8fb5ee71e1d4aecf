"""Systems that stay up side by side are prepared once, visited in turn, and all taken back."""

from __future__ import annotations

import os
import signal

import pytest

from steelyard.records.archive import Run, open_run
from steelyard.records.missing import TooFewSamples
from steelyard.records.schema import Outcome, TrialRecord
from tests.integration.conftest import (
    LONGEST_S,
    STUDY,
    Steelyard,
    assert_each_ended_well,
    first_in_every_run,
)
from tests.integration.test_faults import wait_for_sink

KEPT = STUDY.replace("reset: service", "reset: none").replace("users: 2,", "users: [1, 2],")
LONG_WINDOWS = KEPT.replace("window: 200 ms", "window: 300 ms").replace("[1, 2]", "2")


def write_study(steelyard: Steelyard, text: str) -> None:
    (steelyard.folder / "study.yaml").write_text(text, encoding="utf-8")


def run_of(steelyard: Steelyard) -> Run:
    return open_run(steelyard.folder / "results" / "tiny")


def assert_prepared_once_and_after_failures(records: list[TrialRecord]) -> None:
    """A system that was prepared is used as it stands until a trial fails, of whichever system."""
    prepared: set[str] = set()
    for record in sorted(records, key=lambda each: each.started_unix_ns):
        for instance in record.instances:
            expected = "none" if record.cell.system in prepared else "service"
            assert instance.reset.strength == expected, record.trial
        prepared = prepared | {record.cell.system} if record.outcome is Outcome.OK else set()
    assert records


def test_each_system_is_prepared_once_and_measured_again_and_again(steelyard: Steelyard) -> None:
    write_study(steelyard, KEPT)
    done = steelyard.run("run", ".", "--seed", "1")
    assert done.returncode == 0, done.stderr
    records = run_of(steelyard).records()
    assert_each_ended_well(records)
    assert_prepared_once_and_after_failures(records)
    for record in records:
        if record.outcome is not Outcome.OK:
            continue
        used = record.responses["service.cpu"]
        assert used.value is not None or isinstance(used.missing, TooFewSamples)
    assert not steelyard.processes()


@pytest.mark.extended
def test_a_trial_that_fails_has_all_systems_prepared_anew(steelyard: Steelyard) -> None:
    write_study(steelyard, LONG_WINDOWS)
    process = steelyard.start("run", ".", "--seed", "1")
    os.kill(wait_for_sink(steelyard), signal.SIGKILL)
    _, stderr = process.communicate(timeout=LONGEST_S)
    assert process.returncode == 0, stderr
    records = run_of(steelyard).records()
    assert [record.outcome for record in records].count(Outcome.SERVICE_DIED) == 1
    assert_prepared_once_and_after_failures(records)
    assert not steelyard.processes()


@pytest.mark.parametrize("sent", first_in_every_run([signal.SIGINT, signal.SIGKILL]))
def test_what_stayed_up_is_undone_when_the_session_ends_early(
    steelyard: Steelyard, sent: signal.Signals
) -> None:
    write_study(steelyard, LONG_WINDOWS)
    process = steelyard.start("run", ".", "--seed", "1")
    wait_for_sink(steelyard)
    process.send_signal(sent)
    process.communicate(timeout=LONGEST_S)
    assert process.returncode in (130, -signal.SIGKILL)
    run = run_of(steelyard)
    if sent is signal.SIGKILL:
        assert steelyard.run("restore", str(run.path)).returncode == 0
    assert not steelyard.processes()
    resumed = steelyard.run("resume", str(run.path))
    assert resumed.returncode == 0, resumed.stderr
    assert not steelyard.processes()
