"""Trials one after another on this machine, with what the machine says of itself meanwhile."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from steelyard.hosts.host import Host
from steelyard.traces.bank import Bank, Trial
from steelyard.traces.kernels import Kernel, trials_of

_FACTS = (
    "clocksource",
    "cpu.count",
    "cpu.frequency_driver",
    "cpu.governor",
    "cpu.model",
    "cpu.smt",
    "cpu.turbo",
    "engine.version",
    "kernel.release",
    "memory.total_bytes",
    "virtualization.container",
    "virtualization.guest_flag",
)
"""What may explain the noise and names no owner: banks are there to be given to others."""
_STEAL = 7
_FIELDS = 8

Progress = Callable[[int], None]


class Recording:
    """A series under way. ``trials`` holds what was measured, also after an interruption."""

    def __init__(self, name: str, kernel: Kernel, host: Host, folder: Path) -> None:
        self.trials: list[Trial] = []
        self._name = name
        self._kernel = kernel
        self._host = host
        self._folder = folder
        self._recorded = datetime.now(UTC)
        self._load_before = _load_average()

    def run(self, count: int, told: Progress) -> None:
        """Measures ``count`` trials; raises as :func:`trials_of`, or KeyboardInterrupt."""
        with trials_of(self._kernel, self._host, str(self._folder)) as measure:
            first_ns = time.monotonic_ns()
            before = _processor_ticks()
            for number in range(1, count + 1):
                started_s = (time.monotonic_ns() - first_ns) / 1e9
                value = measure()
                after = _processor_ticks()
                self.trials.append(Trial(started_s, value, _steal_share(before, after)))
                before = after
                told(number)

    def bank(self) -> Bank:
        """What was measured so far."""
        facts = self._host.facts()
        return Bank(
            kernel=self._name,
            unit=self._kernel.unit,
            direction=self._kernel.direction,
            recorded=f"{self._recorded:%Y-%m-%d %H:%M:%S} UTC",
            load_average=(self._load_before, _load_average()),
            trials=tuple(self.trials),
            facts={name: value for name in _FACTS if (value := facts.get(name)) is not None},
        )


def _load_average() -> str:
    return f"{os.getloadavg()[0]:.2f}"


def _processor_ticks() -> list[int] | None:
    """The first line of ``/proc/stat``; ``None`` without it, or without the stolen time in it."""
    try:
        with Path("/proc/stat").open(encoding="ascii") as stat:
            ticks = [int(word) for word in stat.readline().split()[1:]]
    except (OSError, ValueError):
        return None
    return ticks[:_FIELDS] if len(ticks) >= _FIELDS else None


def _steal_share(before: list[int] | None, after: list[int] | None) -> float | None:
    if before is None or after is None:
        return None
    passed = sum(after) - sum(before)
    return (after[_STEAL] - before[_STEAL]) / passed if passed > 0 else None
