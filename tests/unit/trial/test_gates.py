"""A trial counts when its gates hold and the generator vouches for it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from steelyard.engine.messages import Clock, LoadResult
from steelyard.records.missing import Reason
from steelyard.records.schema import Measured, Outcome
from steelyard.study.model import GateSpec
from steelyard.trial.attempt.failed_operations import failures_of
from steelyard.trial.attempt.gates import (
    check_gates,
    connection_warnings,
    generator_warnings,
    refuse_by_gates,
    refuse_invalid,
    refuse_unsteady_clock,
    service_warnings,
    step_warnings,
)
from steelyard.trial.attempt.outcomes import TrialFailed

NO_ERRORS = {"errors": GateSpec(name="errors", at_most=0.0, unit="ratio", text="none")}


def test_a_gate_that_holds_lets_the_trial_pass() -> None:
    records = check_gates(NO_ERRORS, {"errors": Measured(value=0.0, unit="ratio")})
    assert records[0].held is True
    refuse_by_gates(records)


def test_a_gate_that_breaks_names_figure_and_commonest_error(
    load: Callable[..., LoadResult],
) -> None:
    records = check_gates(NO_ERRORS, {"errors": Measured(value=0.25, unit="ratio")})
    errors = {"connect": {"conn_refused": 3}, "eom": {"smtp_4xx": 40}}
    with pytest.raises(TrialFailed) as failed:
        refuse_by_gates(records, [load(errors=errors)])
    assert failed.value.outcome is Outcome.REFUSED_BY_GATE
    assert failed.value.message == (
        "errors none: 0.25 measured; failed operations: smtp 4xx in phase eom in 40 of 43"
    )


def test_a_gate_on_something_that_was_not_measured_neither_holds_nor_breaks() -> None:
    unknown = Measured(value=None, unit="ratio", missing=Reason(kind="not_measured"))
    records = check_gates(NO_ERRORS, {"errors": unknown})
    assert records[0].held is None
    refuse_by_gates(records)


def test_a_lower_limit_works_the_other_way_round() -> None:
    gate = GateSpec(name="throughput", kind="at_least", at_least=10.0, text="at least 10")
    low = check_gates({"throughput": gate}, {"throughput": Measured(value=9.0, unit="x")})
    assert low[0].held is False


def test_a_run_the_generator_calls_invalid_is_refused_with_its_warnings(
    load: Callable[..., LoadResult],
) -> None:
    verdict = {
        "state": "invalid",
        "warnings": [
            {"state": "suspect", "kind": "steal", "steal_ratio": 0.03},
            {"state": "invalid", "kind": "no_bytes"},
        ],
    }
    result = load(verdict=verdict)
    with pytest.raises(TrialFailed, match="no_bytes"):
        refuse_invalid(result)
    assert [each.kind for each in generator_warnings(result)] == ["steal", "no_bytes"]


def test_a_run_without_a_good_answer_says_how_its_operations_failed(
    load: Callable[..., LoadResult],
) -> None:
    counts = {"intended": 1500, "unsent": 0, "sent": 1500, "ok": 0, "errors": 1500}
    reply = "HTTP/1.1 500 Oh no\r\nServer: x\r\n\r\nthe database\nis gone"
    result = load(
        counts=counts | {"inflight_at_stop": 0},
        errors={"ttfb": {"bad_status_5xx": 1500}},
        replies={"ttfb": {"bad_status_5xx": reply}},
        verdict={"state": "invalid", "warnings": []},
    )
    with pytest.raises(TrialFailed) as failed:
        refuse_invalid(result)
    assert failed.value.message == (
        "1,500 of 1,500 operations failed: HTTP status 500 in phase ttfb "
        "(reply: Oh no: the database is gone)"
    )
    quiet = result.model_copy(update={"replies": {}})
    with pytest.raises(TrialFailed, match=r"HTTP status 5xx in phase ttfb$"):
        refuse_invalid(quiet)


def test_operations_that_failed_in_a_trial_that_counts_are_kept_by_phase_and_kind(
    load: Callable[..., LoadResult],
) -> None:
    some = load(
        errors={"ttfb": {"bad_status_5xx": 3, "conn_reset": 1}, "connect": {"conn_refused": 2}},
        replies={"ttfb": {"bad_status_5xx": "HTTP/1.1 503 Busy\r\n\r\n"}},
    )
    more = load(errors={"ttfb": {"bad_status_5xx": 4, "conn_reset": 2}})
    assert [each.model_dump(exclude={"kind"}) for each in failures_of([some, more])] == [
        {"phase": "ttfb", "error": "bad_status_5xx", "count": 7, "status": "503", "reply": "Busy"},
        {"phase": "ttfb", "error": "conn_reset", "count": 3, "status": None, "reply": None},
        {"phase": "connect", "error": "conn_refused", "count": 2, "status": None, "reply": None},
    ]
    assert failures_of([load()]) == ()


def test_connections_that_fail_between_operations_are_a_warning(
    load: Callable[..., LoadResult],
) -> None:
    assert connection_warnings(load()) == []
    broken = connection_warnings(load(connection_errors={"connect": {"conn_refused": 2}}))
    assert [each.kind for each in broken] == ["connections_failed"]
    assert broken[0].figures == {
        "connections": 2, "when": "between_operations",
        "error": "conn_refused", "phase": "connect", "error_count": 2,
    }  # fmt: skip
    away = connection_warnings(load(ramp_errors={"banner": {"ftp_4xx": 10}}))
    assert (away[0].figures["connections"], away[0].figures["when"]) == (10, "before_window")


def test_a_service_that_counts_fewer_good_answers_than_were_received_is_named(
    load: Callable[..., LoadResult],
) -> None:
    assert service_warnings(load(), {"ok": 200}) == []
    assert service_warnings(load(), {}) == []
    assert [each.kind for each in service_warnings(load(), {"ok": 199})] == ["counts_differ"]


def test_a_stepped_wall_clock_is_named_and_a_steady_one_is_not() -> None:
    before = Clock(received_monotonic_ns=0, monotonic_ns=0, realtime_ns=10**18)
    steady = Clock(received_monotonic_ns=0, monotonic_ns=10**9, realtime_ns=10**18 + 10**9 + 50_000)
    stepped = Clock(received_monotonic_ns=0, monotonic_ns=10**9, realtime_ns=10**18 + 3 * 10**9)
    assert step_warnings("far", before, steady) == []
    (forward,) = step_warnings("far", before, stepped)
    assert (forward.kind, forward.figures) == (
        "clock_step",
        {"machine": "far", "step_ns": 2 * 10**9},
    )


def test_a_wall_clock_that_is_set_back_by_minutes_has_the_sign_of_its_step() -> None:
    before = Clock(received_monotonic_ns=0, monotonic_ns=0, realtime_ns=10**18)
    back = Clock(received_monotonic_ns=0, monotonic_ns=10**9, realtime_ns=10**18 - 299 * 10**9)
    (warning,) = step_warnings("far", before, back)
    assert warning.figures["step_ns"] == -300 * 10**9


def test_a_trial_that_is_timed_by_an_unsteady_clock_does_not_count() -> None:
    before = Clock(received_monotonic_ns=0, monotonic_ns=0, realtime_ns=10**18)
    stepped = Clock(received_monotonic_ns=0, monotonic_ns=10**9, realtime_ns=10**18 + 3 * 10**9)
    moved = step_warnings("system", before, stepped)
    refuse_unsteady_clock([])
    with pytest.raises(TrialFailed) as failed:
        refuse_unsteady_clock(moved)
    assert failed.value.outcome is Outcome.INVALID
    assert "clock_step" in failed.value.message
