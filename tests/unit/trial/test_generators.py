"""Several generators drive one load: each is told its share, and who fails or drifts is named."""

from __future__ import annotations

import time
from concurrent.futures import Future
from types import SimpleNamespace
from typing import Any, cast

import pytest
from tests.unit.trial.conftest import load_document

from steelyard.engine.messages import AgentRefusal, Failure
from steelyard.errors import EngineError
from steelyard.hosts.clocks import ClockOffset
from steelyard.hosts.host import Host
from steelyard.records.schema import Calibration, ClockRecord, GeneratorRecord, Outcome
from steelyard.records.warnings import WarningKind
from steelyard.trial.attempt.generator_windows import (
    generator_clock_warnings,
    refuse_windows_apart,
    window_error_ns,
    windows_apart_ns,
)
from steelyard.trial.attempt.instance import Instance
from steelyard.trial.attempt.outcomes import TrialFailed, as_failed
from steelyard.trial.drive.generators import Generator, SharedLoad, SharedLoadDrive, width_of
from steelyard.trial.session_state.calibrate import calibration_warnings, held_against

MS = 1_000_000
JOB = {"mode": {"kind": "closed", "users": 2}}


class Machine:
    """Stands in for a machine that was told to drive a load; merges by counting its results."""

    lost = False

    def __init__(self) -> None:
        self.job: dict[str, Any] = {}
        self.answer: Future[dict[str, Any]] = Future()
        self.cancelled = False
        self.results: list[dict[str, Any]] = []

    def start_load(self, job: dict[str, Any]) -> Future[dict[str, Any]]:
        self.job = job
        return self.answer

    def cancel_load(self) -> None:
        self.cancelled = True

    def merge_loads(self, results: list[dict[str, Any]]) -> dict[str, Any]:
        self.results = results
        return results[0]


def two(offset_ns: int = 0) -> tuple[list[Machine], list[Generator]]:
    machines = [Machine(), Machine()]
    clocks = [ClockOffset(0, 0, 1), ClockOffset(offset_ns, 2 * MS, 1)]
    generators = [
        Generator(number, f"ssh://m{number}", cast("Host", machine), clock, JOB)
        for number, (machine, clock) in enumerate(zip(machines, clocks, strict=True), start=1)
    ]
    return machines, generators


def soon() -> int:
    return time.monotonic_ns() + 50 * MS


def test_each_is_given_the_whole_job_its_number_and_the_start_by_its_own_clock() -> None:
    machines, generators = two(offset_ns=7_000)
    SharedLoad(generators).begin(1_000)
    assert [machine.job["generator"] for machine in machines] == [
        {"number": 1, "of": 2},
        {"number": 2, "of": 2},
    ]
    assert [m.job["start_at_monotonic_ns"] for m in machines] == [1_000, 8_000]
    assert all(machine.job["mode"] == JOB["mode"] for machine in machines)


def test_no_more_generators_share_a_load_than_it_has_users_or_connections() -> None:
    assert width_of(JOB) == 2
    assert width_of({"mode": {"kind": "open", "rate_per_s": 9.0, "connections": 5}}) == 5


def test_results_are_merged_by_the_clock_of_the_controller() -> None:
    machines, generators = two(offset_ns=500)
    for machine in machines:
        machine.answer.set_result(load_document())
    instance = cast("Instance", SimpleNamespace())
    local = Machine()
    after = ClockOffset(500, MS, 2 * MS)
    drive = SharedLoadDrive(instance, generators, cast("Host", local), lambda _: after, 1.0)
    drive.begin(1_000)
    drive.finish(soon())
    starts = [each["load"]["window_start_monotonic_ns"] for each in local.results]
    assert starts[0] - starts[1] == 500
    assert [each.generator for each in instance.generators] == [1, 2]
    assert [each.offset_ns for each in instance.generators[1].clocks] == [500, 500]
    assert len(instance.generator_loads) == 2


@pytest.mark.parametrize(
    ("failure", "outcome"),
    [
        (EngineError("the agent has ended", slug="agent-is-lost"), Outcome.AGENT_LOST),
        (
            AgentRefusal("load", Failure(kind="late_start", message="late")),
            Outcome.SERVICE_NOT_READY,
        ),
        (None, Outcome.TIMED_OUT),
    ],
)
def test_a_generator_that_fails_is_named_and_the_other_is_not_waited_for(
    failure: Exception | None, outcome: Outcome
) -> None:
    machines, generators = two()
    load = SharedLoad(generators)
    load.begin(1_000)
    if failure is None:
        machines[0].answer.set_result(load_document())
    else:
        machines[1].answer.set_exception(failure)
    with pytest.raises((EngineError, AgentRefusal, TrialFailed)) as failed:
        load.finish(soon() if failure is None else time.monotonic_ns() + 60_000 * MS)
    told = as_failed(failed.value)
    assert told.outcome is outcome
    assert "generator 2 (ssh://m2)" in told.message
    load.cancel()
    assert [machine.cancelled for machine in machines] == [failure is not None, failure is None]


def record(number: int, error_ns: int, *clocks: tuple[int, int, int]) -> GeneratorRecord:
    return GeneratorRecord(
        generator=number,
        machine=f"ssh://m{number}",
        clocks=tuple(
            ClockRecord(offset_ns=offset, uncertainty_ns=unsure, at_ns=at)
            for offset, unsure, at in clocks
        ),
        window_error_ns=error_ns,
        began_ns=None,
        throughput_per_s=100.0,
    )


def test_a_window_may_be_off_by_what_its_clock_is_unsure_of_and_by_how_far_it_moved() -> None:
    before = ClockOffset(1_000, 300, 0)
    assert window_error_ns(before, ClockOffset(1_000, 100, 9)) == 300
    assert window_error_ns(before, ClockOffset(3_000, 100, 9)) == 2_100
    assert windows_apart_ns([record(1, 5), record(2, 70), record(3, 20)]) == 90
    assert windows_apart_ns([record(1, 5)]) == 0


@pytest.mark.parametrize(
    ("apart_ns", "state"), [(MS, None), (20 * MS, "suspect"), (200 * MS, "invalid")]
)
def test_windows_apart_are_suspect_from_one_percent_and_invalid_from_ten(
    apart_ns: int, state: str | None
) -> None:
    warnings = generator_clock_warnings([record(1, 0), record(2, apart_ns)], 1_000 * MS)
    assert [each.state for each in warnings] == ([] if state is None else [state])
    assert [each.figures["generator"] for each in warnings] == ([] if state is None else [2])
    if state == "invalid":
        with pytest.raises(TrialFailed, match="generator 2") as failed:
            refuse_windows_apart(warnings)
        assert failed.value.outcome is Outcome.INVALID
    else:
        refuse_windows_apart(warnings)


def test_a_clock_that_drifts_is_named_by_its_generator() -> None:
    drifting = record(2, 0, (0, 100, 0), (2 * MS, 100, 1_000 * MS))
    steady = record(1, 0, (0, 100, 0), (0, 100, 1_000 * MS))
    (warning,) = generator_clock_warnings([steady, drifting], 10_000 * MS)
    assert warning.kind is WarningKind.CLOCK_DRIFT
    assert "ssh://m2" in str(warning.figures["machine"])
    assert warning.figures["drift_ppm"] == pytest.approx(2_000)


def test_each_generator_is_held_against_its_own_capacity_and_all_against_the_sum(
    load: Any,
) -> None:
    calibration = Calibration(sink="s", capacity_per_s=1_000.0, shares_per_s=(110.0, 890.0))
    held = held_against(calibration, [load()], [record(1, 0), record(2, 0)])
    assert held is not None
    assert held.ratios == pytest.approx((100 / 110, 100 / 890))
    (warning,) = calibration_warnings(held)
    assert warning.figures["generator"] == 1
