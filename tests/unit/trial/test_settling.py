"""Whether a machine has come to rest."""

from __future__ import annotations

from steelyard.trial.attempt.idle_wait import IDLE_SHARE, cpu_times, idle_share

BEFORE = "cpu  100 0 50 1000 10 0 5 0 0 0\ncpu0 100 0 50 1000 10 0 5 0 0 0\nintr 1\n"
AFTER = "cpu  101 0 51 1197 11 0 5 0 0 0\ncpu0 101 0 51 1197 11 0 5 0 0 0\nintr 2\n"


def test_the_first_line_of_stat_gives_idle_and_whole_time() -> None:
    assert cpu_times(BEFORE) == (1000, 1165)


def test_a_machine_rests_when_nearly_all_of_its_time_was_idle() -> None:
    assert idle_share(cpu_times(BEFORE), cpu_times(AFTER)) == 197 / 200
    assert idle_share(cpu_times(BEFORE), cpu_times(AFTER)) >= IDLE_SHARE


def test_waiting_for_a_disk_is_no_rest() -> None:
    waiting = "cpu  100 0 50 1000 210 0 5 0 0 0\n"
    assert idle_share(cpu_times(BEFORE), cpu_times(waiting)) == 0


def test_no_time_between_two_readings_is_no_rest() -> None:
    assert idle_share(cpu_times(BEFORE), cpu_times(BEFORE)) == 0
