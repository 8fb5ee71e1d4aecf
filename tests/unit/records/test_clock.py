"""Times of records are counted, not read: a clock that is set changes no duration."""

from __future__ import annotations

import time

import pytest

from steelyard.records.events import SessionClosed, SessionOpened, SteadyClock, now_unix_ns
from steelyard.records.sessions import spent_ns


@pytest.mark.parametrize("jump_s", [-7200, 7200])
def test_a_clock_that_is_set_changes_no_duration(
    monkeypatch: pytest.MonkeyPatch, jump_s: int
) -> None:
    opened = SessionOpened()
    real = time.time_ns
    monkeypatch.setattr(time, "time_ns", lambda: real() + jump_s * 10**9)
    closed = SessionClosed(reason="decided")
    assert 0 <= spent_ns([opened, closed]) < 3600 * 10**9


def test_the_time_is_that_of_the_day_when_the_clock_was_made() -> None:
    clock = SteadyClock(began_unix_ns=5_000, began_boot_ns=time.clock_gettime_ns(7) - 10)
    assert clock.now_unix_ns() >= 5_010
    first, second = now_unix_ns(), now_unix_ns()
    assert second >= first
