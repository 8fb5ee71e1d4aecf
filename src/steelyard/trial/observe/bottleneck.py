"""The bottleneck of a trial: the first resource that was used up, of those that were sampled.

Of a disk only its busy time is known.

Pure; it is reported for every cell and decides nothing.
"""

from __future__ import annotations

from steelyard.records.warnings import Bottleneck, Resource, WarningKind
from steelyard.trial.observe.devices import STORE
from steelyard.trial.observe.responses import SERVICE, Seen

_FULL = 0.9
_ONE_CORE_AT_MOST = 1.1  # a service that uses more is not held back by one core


def bottleneck_of(seen: Seen) -> Bottleneck | None:
    """The resource and its share, or ``None`` when none of those sampled was used up."""
    for warning in () if seen.driven is None else seen.driven.verdict.warnings:
        if warning.kind == WarningKind.GENERATOR_BOUND:
            share = warning.figures["busiest_worker_ratio"]
            return Bottleneck(resource=Resource.GENERATOR, share=share)
    for resource, used in _shares(seen):
        if used is not None and used >= _FULL:
            return Bottleneck(resource=resource, share=used)
    return None


def _shares(seen: Seen) -> list[tuple[Resource, float | None]]:
    return [
        (Resource.MACHINE_CPU, machine_cpu(seen)),
        (Resource.ONE_CORE_OF_SERVICE, _one_core(seen)),
        # Last, for it is no sign of saturation: a disk that is always busy may serve many at once.
        (Resource.DISK_BUSY_TIME, _share(seen, f"disk.{STORE}.io_ns")),
    ]


def _one_core(seen: Seen) -> float | None:
    cores = _share(seen, f"process.{SERVICE}.cpu_ns")
    return None if cores is None or cores > _ONE_CORE_AT_MOST else cores


def _share(seen: Seen, column: str) -> float | None:
    rate = seen.window.rate_per_s(column)
    return None if rate is None else rate / 1e9


def machine_cpu(seen: Seen) -> float | None:
    """The share of the processors that was used in the window."""
    idle, waiting = seen.window.rate_per_s("cpu.idle_ns"), seen.window.rate_per_s("cpu.iowait_ns")
    if idle is None or waiting is None or not seen.processors:
        return None
    return 1 - (idle + waiting) / (1e9 * seen.processors)
