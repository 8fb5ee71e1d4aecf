"""Offset and drift of a clock, on known truth."""

from __future__ import annotations

import pytest

from steelyard.hosts.clocks import (
    ClockExchange,
    ClockOffset,
    WallOffset,
    drift_ppm,
    drift_uncertainty_ppm,
)


def exchange(sent_ns: int, offset_ns: int, *, there_ns: int, back_ns: int) -> ClockExchange:
    """A machine whose clock is ahead by ``offset_ns``, and answers after 5 ns."""
    received_ns = sent_ns + there_ns + offset_ns
    replied_ns = received_ns + 5
    return ClockExchange(sent_ns, received_ns, replied_ns, replied_ns - offset_ns + back_ns)


def test_equal_ways_give_the_offset_exactly() -> None:
    offset = ClockOffset.of([exchange(1000, 7_000_000, there_ns=400, back_ns=400)])
    assert offset.offset_ns == 7_000_000
    assert offset.uncertainty_ns == 401
    assert offset.there_ns(1) == 7_000_001


def test_a_clock_that_is_behind_has_a_negative_offset() -> None:
    offset = ClockOffset.of([exchange(10**9, -5_000, there_ns=10, back_ns=10)])
    assert offset.offset_ns == -5_000


def test_the_shortest_round_trip_is_believed() -> None:
    slow = exchange(0, 100, there_ns=10_000, back_ns=0)
    fast = exchange(50_000, 100, there_ns=20, back_ns=30)
    offset = ClockOffset.of([slow, fast, slow])
    assert abs(offset.offset_ns - 100) <= offset.uncertainty_ns <= 26


def test_no_exchange_is_no_offset() -> None:
    with pytest.raises(ValueError, match="empty"):
        ClockOffset.of([])


@pytest.mark.parametrize("ahead_ns", [-300 * 10**9, 0, 300 * 10**9])
def test_a_wall_clock_is_ahead_by_what_lies_between_both_pairs_of_clocks(ahead_ns: int) -> None:
    here_ns, boots_apart_ns = 10**18, 7 * 10**12
    offset = ClockOffset(boots_apart_ns, 200, at_ns=0)
    there_ns = here_ns - boots_apart_ns + ahead_ns
    wall = WallOffset.of(offset, there_ns, here_ns)
    assert (wall.ahead_ns, wall.uncertainty_ns) == (ahead_ns, 200)
    assert wall.differs_by(10**9) is (ahead_ns != 0)


def test_a_clock_that_is_not_known_well_does_not_differ_for_certain() -> None:
    assert not WallOffset(3 * 10**9, 2 * 10**9 + 1).differs_by(10**9)


def test_a_clock_that_runs_fast_drifts_by_as_much() -> None:
    before, after = ClockOffset(0, 50, at_ns=0), ClockOffset(20_000, 50, at_ns=10**9)
    assert drift_ppm(before, after) == pytest.approx(20)
    assert drift_uncertainty_ppm(before, after) == pytest.approx(0.1)


def test_drift_needs_some_time_between() -> None:
    offset = ClockOffset(0, 1, at_ns=5)
    with pytest.raises(ValueError, match="not measured after"):
        drift_ppm(offset, offset)
