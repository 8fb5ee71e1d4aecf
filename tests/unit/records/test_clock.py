"""Times of records are counted, not read: a clock that is set changes no duration."""

from __future__ import annotations

import time

import pytest

from steelyard.records.events import SessionClosed, SessionOpened, Undone
from steelyard.records.sessions import spent_ns
from steelyard.records.steady_clock import SteadyClock, now_unix_ns


@pytest.mark.parametrize("jump_s", [-7200, 7200])
def test_a_clock_that_is_set_changes_no_duration(
    monkeypatch: pytest.MonkeyPatch, jump_s: int
) -> None:
    opened = SessionOpened()
    real = time.time_ns
    monkeypatch.setattr(time, "time_ns", lambda: real() + jump_s * 10**9)
    closed = SessionClosed(reason="decided")
    assert 0 <= spent_ns([opened, closed]) < 3600 * 10**9


def test_a_restore_by_a_clock_that_was_set_back_leaves_no_session_a_negative_duration() -> None:
    opened, restored, again = SessionOpened(at_unix_ns=900), Undone(undo=1, at_unix_ns=500), 1000
    later = [SessionOpened(at_unix_ns=again), SessionClosed(reason="decided", at_unix_ns=again + 7)]
    assert spent_ns([opened, restored]) == 0
    assert spent_ns([opened, restored, *later]) == 7


def test_the_time_is_that_of_the_day_when_the_clock_was_made() -> None:
    clock = SteadyClock(began_unix_ns=5_000, began_boot_ns=time.clock_gettime_ns(7) - 10)
    assert clock.now_unix_ns() >= 5_010
    first, second = now_unix_ns(), now_unix_ns()
    assert second >= first
