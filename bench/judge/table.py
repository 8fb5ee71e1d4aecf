"""One row of the table that `python -m bench.judge` prints, and how its times are taken."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True)
class Times:
    """Of several runs, in seconds: processor time and time by the clock."""

    cpu_s: tuple[float, ...]
    wall_s: tuple[float, ...]

    @property
    def middle_s(self) -> float:
        """Median of the processor time."""
        return median(self.cpu_s)

    @property
    def text(self) -> str:
        spread = (
            f" ({min(self.cpu_s):.3g} to {max(self.cpu_s):.3g}, {len(self.cpu_s)} runs)"
            if len(self.cpu_s) > 1
            else ""
        )
        return f"{self.middle_s:.3g} s of processor time{spread}"


@dataclass(frozen=True)
class Row:
    """What was timed, and the goal for the median of its processor time.

    ``naive`` is the same answer without shortcuts, ``None`` where there is no other way.
    ``memory_mb`` is the most that a process with nothing else had.
    """

    what: str
    own: Times
    naive: Times | None
    goal_s: float
    memory_mb: float | None = None
    goal_mb: float | None = None

    @property
    def text(self) -> str:
        naive = "" if self.naive is None else f"; naive {self.naive.text}"
        met = "met" if self.own.middle_s <= self.goal_s else "missed"
        return (
            f"{self.what}: {self.own.text}, {median(self.own.wall_s):.3g} s by the clock "
            f"(goal {self.goal_s:g} s, {met}){naive}{self._memory_text}"
        )

    @property
    def _memory_text(self) -> str:
        if self.memory_mb is None or self.goal_mb is None:
            return ""
        met = "met" if self.memory_mb <= self.goal_mb else "missed"
        return f"; {self.memory_mb:.0f} MB of memory (goal {self.goal_mb:g} MB, {met})"


def in_turn(works: Sequence[Callable[[int], object]], repeats: int) -> list[Times]:
    """Each work once in every turn, so that a busy machine is busy for all of them alike."""
    taken: list[list[tuple[float, float]]] = [[] for _ in works]
    for turn in range(repeats):
        for place, work in enumerate(works):
            cpu, wall = time.process_time(), time.perf_counter()
            work(turn)
            taken[place].append((time.process_time() - cpu, time.perf_counter() - wall))
    return [Times(tuple(c for c, _ in each), tuple(w for _, w in each)) for each in taken]
