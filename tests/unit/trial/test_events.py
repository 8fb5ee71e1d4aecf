"""What becomes of an event that does not happen as declared."""

from __future__ import annotations

from concurrent.futures import Future
from typing import Any, cast

import pytest

from steelyard.engine.agent import AgentRefusal
from steelyard.engine.messages import Failure
from steelyard.hosts.clocks import ClockOffset
from steelyard.hosts.host import Host
from steelyard.records.schema import Outcome
from steelyard.study.model import EventSpec
from steelyard.trial.attempt.outcomes import RETRY_HELPS, TrialFailed
from steelyard.trial.drive.events import EventDrive

EVENT = EventSpec(name="backup", command=("sync",), at_s=2, within_s=1, late_s=0.05, calm_s=1)
RAN: dict[str, Any] = {
    "exit_code": 0,
    "signal": None,
    "stdout": "",
    "stderr": "",
    "stdout_truncated": False,
    "stderr_truncated": False,
    "timed_out": False,
    "cancelled": False,
    "started_monotonic_ns": 7_000,
    "ended_monotonic_ns": 9_000,
    "user_ns": 0,
    "system_ns": 0,
    "max_rss_bytes": 0,
}


class Machine:
    """Answers with what it is given."""

    lost = False

    def __init__(self, answer: dict[str, Any] | Exception) -> None:
        self.answer = answer
        self.asked: dict[str, Any] = {}

    def submit_run(self, words: list[str], **asked: Any) -> Future[dict[str, Any]]:
        self.asked = {"words": words, **asked}
        future: Future[dict[str, Any]] = Future()
        if isinstance(self.answer, Exception):
            future.set_exception(self.answer)
        else:
            future.set_result(self.answer)
        return future


def drive_on(machine: Machine) -> EventDrive:
    clock = ClockOffset(offset_ns=1_000, uncertainty_ns=10, at_ns=0)
    drive = EventDrive(EVENT, cast("Host", machine), clock, ["sync"], ahead_ns=500)
    drive.begin(100)
    return drive


def test_it_starts_by_the_clock_of_its_machine_and_has_moments_of_the_controllers() -> None:
    machine = Machine(RAN)
    event = drive_on(machine).finish()
    assert machine.asked["start_at_monotonic_ns"] == 1_600
    assert machine.asked["timeout_s"] == 1
    assert (event.began_ns, event.ended_ns, event.uncertainty_ns) == (6_000, 8_000, 10)


@pytest.mark.parametrize(
    "answer",
    [
        RAN | {"exit_code": 3},
        RAN | {"exit_code": None, "signal": 9, "timed_out": True},
        AgentRefusal("run", Failure(kind="not_found", message="there is no `sync`")),
    ],
)
def test_what_fails_or_takes_too_long_has_an_outcome_of_its_own(answer: Any) -> None:
    with pytest.raises(TrialFailed) as failed:
        drive_on(Machine(answer)).finish()
    assert failed.value.outcome is Outcome.EVENT_FAILED
    assert "backup" in failed.value.message


def test_both_outcomes_are_tried_again() -> None:
    assert {Outcome.EVENT_FAILED, Outcome.EVENT_MISSED} <= RETRY_HELPS
