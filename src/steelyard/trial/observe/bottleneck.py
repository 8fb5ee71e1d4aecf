"""What limited this trial? The first resource that was used up, or nothing that was sampled.

Pure, and told to the reader beside every cell; it decides nothing.
"""

from __future__ import annotations

from steelyard.trial.observe.devices import STORE
from steelyard.trial.observe.responses import SERVICE, Seen

_FULL = 0.9
_ONE_CORE_AT_MOST = 1.1  # a service that uses more is not held back by one core


def limited_by(seen: Seen, cores: int | None) -> str | None:
    """A resource in words, or ``None`` when none of those sampled was used up."""
    warnings = () if seen.driven is None else seen.driven.verdict.warnings
    if any(warning.kind == "generator_bound" for warning in warnings):
        return "the load generator"
    for words, used in _uses(seen, cores):
        if used is not None and used >= _FULL:
            return f"{words} ({used:.0%} used)"
    return None


def _uses(seen: Seen, cores: int | None) -> list[tuple[str, float | None]]:
    return [
        ("the disk", _share(seen, f"disk.{STORE}.io_ns", 1)),
        ("the machine's CPU", _machine_cpu(seen, cores)),
        ("one core by the service", _one_core(seen)),
    ]


def _one_core(seen: Seen) -> float | None:
    cores = _share(seen, f"process.{SERVICE}.cpu_ns", 1)
    return None if cores is None or cores > _ONE_CORE_AT_MOST else cores


def _share(seen: Seen, column: str, capacity: int) -> float | None:
    rate = seen.window.rate_per_s(column)
    return None if rate is None else rate / (1e9 * capacity)


def _machine_cpu(seen: Seen, cores: int | None) -> float | None:
    idle, waiting = seen.window.rate_per_s("cpu.idle_ns"), seen.window.rate_per_s("cpu.iowait_ns")
    if idle is None or waiting is None or not cores:
        return None
    return 1 - (idle + waiting) / (1e9 * cores)
