"""What fails while instances are measured is reported, never passed over."""

from __future__ import annotations

from concurrent.futures import Future
from types import SimpleNamespace
from typing import Any, cast

import pytest

from steelyard.engine.messages import AgentRefusal, Failure
from steelyard.errors import EngineError
from steelyard.hosts.clocks import ClockOffset
from steelyard.hosts.host import Host
from steelyard.records.schema import Outcome
from steelyard.study import catalogue
from steelyard.trial.attempt.attempt import Attempt
from steelyard.trial.attempt.instance import Instance
from steelyard.trial.attempt.outcomes import TrialFailed
from steelyard.trial.drive.drivers import RunDrive
from steelyard.trial.drive.measure import BARRIER_S, LATE_START, _ahead_s, _give_longer, _place
from steelyard.trial.drive.sampling import Watch, stop_sampling
from steelyard.workloads.tools.ready import ReadyTool

RAN: dict[str, Any] = {
    "exit_code": 0,
    "signal": None,
    "stdout": "",
    "stderr": "",
    "stdout_truncated": False,
    "stderr_truncated": False,
    "timed_out": False,
    "cancelled": False,
    "started_monotonic_ns": 1,
    "ended_monotonic_ns": 2,
    "user_ns": 0,
    "system_ns": 0,
    "max_rss_bytes": 0,
}


def neighbour(**changes: Any) -> RunDrive:
    """A command beside the measured one that has ended already."""
    answer: Future[dict[str, Any]] = Future()
    answer.set_result(RAN | changes)
    host = SimpleNamespace(submit_run=lambda *_, **__: answer)
    instance = cast("Instance", SimpleNamespace(host=host, folder="/f", ran=[]))
    entry = catalogue.workload("command")
    tool = ReadyTool(cast("Host", host), "/f", entry, {}, {}, (("burn",),))
    drive = RunDrive(instance, ClockOffset(0, 0, 0), tool, 10.0)
    drive.begin(None)
    return drive


def test_a_neighbour_that_failed_is_no_neighbour_that_rested() -> None:
    with pytest.raises(
        TrialFailed, match="`burn` ended with exit code 127: no such program"
    ) as failed:
        neighbour(exit_code=127, stderr="no such program").end_background()
    assert failed.value.outcome is Outcome.COMMAND_FAILED


def test_a_neighbour_that_succeeded_before_the_measured_one_says_how_long_it_rested() -> None:
    idle_s = neighbour().end_background()
    assert idle_s is not None
    assert idle_s > 0


def test_a_machine_that_cannot_tell_its_samples_is_named_with_its_reason() -> None:
    def gone() -> None:
        raise EngineError("the agent has ended", slug="agent-is-lost")

    host = cast("Host", SimpleNamespace(stop_sampling=gone))
    seen, untold = stop_sampling([Watch("host", host, 0)])
    assert seen == {}
    assert [str(error) for error in untold] == ["the agent has ended"]


def an_attempt(probed: bool = True) -> Attempt:
    """Of the system ``slow``, with or without a latency probe."""
    session = SimpleNamespace(ahead_s={}, started=set())
    study = SimpleNamespace(latency_probe="probe" if probed else None, events={})
    cell = SimpleNamespace(study=study, find=None)
    trial = SimpleNamespace(cell=SimpleNamespace(system="slow"))
    return cast("Attempt", SimpleNamespace(session=session, cell=cell, trial=trial))


def late() -> AgentRefusal:
    return AgentRefusal("load", Failure(kind=LATE_START, message="300 ms ago"))


@pytest.mark.parametrize(("probed", "waits"), [(True, [2, 8, 30, 30]), (False, [0.3, 2, 8, 30])])
def test_a_system_that_was_not_ready_to_start_gets_longer_the_next_time(
    probed: bool, waits: list[float]
) -> None:
    attempt, found = an_attempt(probed), []
    for _ in waits:
        found.append(_ahead_s(attempt))
        _give_longer(attempt, late())
    assert found == waits
    assert list(attempt.session.ahead_s) == ["slow"]


def test_a_cell_that_has_been_started_beside_a_probe_starts_sooner_the_next_time() -> None:
    attempt = an_attempt()
    first = _ahead_s(attempt)
    attempt.session.started.add(_place(attempt))
    assert BARRIER_S < _ahead_s(attempt) < first
    _give_longer(attempt, late())
    assert _ahead_s(attempt) == first


def test_whatever_else_fails_leaves_the_start_as_it_is() -> None:
    attempt = an_attempt()
    _give_longer(attempt, AgentRefusal("load", Failure(kind="unreachable", message="no answer")))
    _give_longer(attempt, KeyboardInterrupt())
    assert attempt.session.ahead_s == {}
