"""Where the time of a trial went."""

from __future__ import annotations

import pytest

from steelyard.trial.attempt.timeline import Timeline, overhead_ns


def test_a_phase_that_fails_is_timed_and_named() -> None:
    timeline = Timeline()
    with pytest.raises(ValueError, match="boom"), timeline.during("audit"):
        raise ValueError("boom")
    assert timeline.phase == "audit"
    assert timeline.durations_ns["audit"] > 0


def test_the_measuring_phase_splits_into_warmup_window_and_the_rest() -> None:
    timeline = Timeline()
    timeline.durations_ns = {"measure": 2_600}
    timeline.split_measure(500, 2_000)
    assert timeline.durations_ns == {"warmup": 500, "window": 2_000, "connect_and_drain": 100}


def test_overhead_is_all_but_reset_warmup_and_window() -> None:
    phases = {"restore": 9, "start_service": 9, "audit": 3, "warmup": 9, "window": 9, "check": 4}
    assert overhead_ns(phases | {"undo": 9, "connect_and_drain": 5, "collect": 1}) == 13
