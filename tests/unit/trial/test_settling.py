"""Whether a machine has come to rest."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import cast

import pytest

from steelyard.hosts.host import Host
from steelyard.trial.attempt import idle_wait
from steelyard.trial.attempt.idle_wait import IDLE_SHARE, cpu_times, idle_share, not_at_rest

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


class StandIn:
    """A machine of two processors that is busy at its first ``busy`` looks, and idle from then."""

    def __init__(self, name: str, *, busy: int) -> None:
        self.name = name
        self._stat = self._ticks(busy)

    def read_file(self, path: str) -> str:
        assert path == "/proc/stat"
        return next(self._stat)

    @staticmethod
    def _ticks(busy: int) -> Iterator[str]:
        used = idle = 0
        for look in count():
            yield f"cpu  {used} 0 0 {idle} 0 0 0 0 0 0\n"
            used, idle = (used + 200, idle) if look < busy else (used, idle + 200)


@pytest.fixture
def slept_s(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    slept: list[float] = []
    monkeypatch.setattr(idle_wait.time, "sleep", slept.append)
    return slept


@pytest.mark.parametrize(
    ("busy", "at_most_s", "left", "took_s"),
    [
        ((0, 0), 2.0, [], 1.0),
        ((0, 1), 2.0, [], 2.0),
        ((2, 0), 2.0, ["one"], 2.0),
        ((9, 9), 3.0, ["one", "two"], 3.0),
        ((0, 0), 0.5, [], 0.5),
    ],
)
def test_machines_are_looked_at_in_the_same_seconds(
    slept_s: list[float], busy: tuple[int, int], at_most_s: float, left: list[str], took_s: float
) -> None:
    hosts = [StandIn(name, busy=n) for name, n in zip(("one", "two"), busy, strict=True)]
    assert not_at_rest(cast("list[Host]", hosts), at_most_s) == left
    assert sum(slept_s) == took_s


def test_a_machine_that_carries_several_systems_is_named_once(slept_s: list[float]) -> None:
    hosts = [StandIn("local", busy=9), StandIn("local", busy=9)]
    assert not_at_rest(cast("list[Host]", hosts), 2.0) == ["local"]
    assert slept_s == [1.0, 1.0]
