"""One row of the table that `python -m bench.judge` prints."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """What was timed, in seconds of processor time and of the clock, and the goal for it.

    ``naive_s`` is the processor time of the same answer without shortcuts, ``None`` where there is
    no other way.
    """

    what: str
    cpu_s: float
    wall_s: float
    goal_s: float
    naive_s: float | None

    @property
    def text(self) -> str:
        naive = "" if self.naive_s is None else f"; naive {self.naive_s:.2f} s"
        met = "met" if self.cpu_s <= self.goal_s else "missed"
        return (
            f"{self.what}: {self.cpu_s:.2f} s of processor time, {self.wall_s:.2f} s by the clock "
            f"(goal {self.goal_s:g} s, {met}){naive}"
        )


def timed(work: Callable[[], object]) -> tuple[float, float]:
    """Processor time and time by the clock of one call."""
    cpu, wall = time.process_time(), time.perf_counter()
    work()
    return time.process_time() - cpu, time.perf_counter() - wall
