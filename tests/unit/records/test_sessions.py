"""Time spent and the reason of the end, from the ledger."""

from __future__ import annotations

from steelyard.records.events import (
    AttemptStarted,
    Event,
    GeneratorCalibrated,
    SessionClosed,
    SessionOpened,
)
from steelyard.records.sessions import last_reason, spent_ns


def opened(at: int) -> SessionOpened:
    return SessionOpened(at_unix_ns=at)


def started(at: int) -> AttemptStarted:
    return AttemptStarted(at_unix_ns=at, trial=1, attempt=1)


def decided(at: int) -> SessionClosed:
    return SessionClosed(at_unix_ns=at, reason="decided")


def test_sessions_add_up_and_the_nights_between_them_do_not() -> None:
    events: list[Event] = [opened(10), SessionClosed(at_unix_ns=30, reason="interrupted")]
    events += [opened(500), decided(505)]
    assert spent_ns(events) == 25
    assert last_reason(events) == "decided"


def test_a_killed_session_counts_to_its_last_event() -> None:
    events: list[Event] = [opened(10), started(17), opened(100)]
    assert spent_ns([*events, started(103)]) == 10
    assert last_reason(events) == "open"


def test_a_run_that_was_never_opened_spent_nothing() -> None:
    assert spent_ns([]) == 0
    assert last_reason([]) == "open"


def test_calibration_before_the_trials_spends_no_budget() -> None:
    assert spent_ns([opened(10), GeneratorCalibrated(at_unix_ns=25, cells=()), decided(30)]) == 5


def test_a_calibration_that_is_repeated_between_visits_takes_nothing_from_the_time_spent() -> None:
    again = GeneratorCalibrated(at_unix_ns=40, cells=(), after_visit=3)
    assert spent_ns([opened(10), started(12), again, decided(50)]) == 40
