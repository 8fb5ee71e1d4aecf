"""A command that was run, and the time it took.

The time is taken by the controller's clock: a guest's own may run as its processors are scheduled.
With ``clock: system`` it is that of the machine where the command ran, which knows nothing of the
way there and back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from steelyard.engine.messages import Ran
from steelyard.records.schema import Measured

RUN_TIME = "run_time"


@dataclass(frozen=True)
class Timed:
    """One command that was run, and when by the monotonic clock that the study names."""

    ran: Ran
    started_ns: int
    ended_ns: int


def run_time(timed: Sequence[Timed]) -> Measured:
    """From the start of the first command until the last ended."""
    span_ns = timed[-1].ended_ns - timed[0].started_ns
    return Measured(value=span_ns / 1e9, unit="s")
