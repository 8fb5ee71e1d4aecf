"""Time spent and the reason of the end, from the ledger."""

from __future__ import annotations

from typing import Any

from steelyard.records.sessions import last_reason, spent_ns


def event(name: str, at: int, **fields: Any) -> dict[str, Any]:
    return {"event": name, "at_unix_ns": at, **fields}


OPENED, CLOSED = "session_opened", "session_closed"


def test_sittings_add_up_and_the_nights_between_them_do_not() -> None:
    events = [event(OPENED, 10), event(CLOSED, 30, reason="interrupted"), event(OPENED, 500)]
    events.append(event(CLOSED, 505, reason="decided"))
    assert spent_ns(events) == 25
    assert last_reason(events) == "decided"


def test_a_killed_sitting_counts_to_its_last_event() -> None:
    events = [event(OPENED, 10), event("attempt_started", 17), event(OPENED, 100)]
    assert spent_ns([*events, event("attempt_started", 103)]) == 10
    assert last_reason(events) is None


def test_a_run_that_never_sat_spent_nothing() -> None:
    assert spent_ns([]) == 0
    assert last_reason([]) is None


def test_calibration_before_the_trials_spends_no_budget() -> None:
    events = [event(OPENED, 10), event("calibrated", 25), event(CLOSED, 30, reason="decided")]
    assert spent_ns(events) == 5
