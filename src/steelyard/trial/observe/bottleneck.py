"""The bottleneck of a trial: the first resource that was used up, of those that were sampled.

Of a disk only its busy time is known, of memory and of limits how long something waited for more.

Pure; it is reported for every cell and decides nothing.
"""

from __future__ import annotations

from typing import NamedTuple

from steelyard.records.warnings import Bottleneck, Resource, WarningKind
from steelyard.systems.platform import VCPU
from steelyard.trial.observe.devices import STORE
from steelyard.trial.observe.disturbances import OURS
from steelyard.trial.observe.responses import SERVICE, Seen
from steelyard.trial.observe.window import WindowSamples

_FULL = 0.9
_WAITED = 0.1
"""Of the window: less is felt by no more than a tenth of what was measured."""
_ONE_CORE_AT_MOST = 1.1  # a service that uses more is not held back by one core


class _Use(NamedTuple):
    """How much of a resource was used, or waited for, and from which share on it was short."""

    resource: Resource
    share: float | None
    least: float = _FULL


def bottleneck_of(seen: Seen) -> Bottleneck | None:
    """The resource and its share, or ``None`` when none of those sampled was used up."""
    for warning in () if seen.driven is None else seen.driven.verdict.warnings:
        if warning.kind == WarningKind.GENERATOR_BOUND:
            share = warning.figures["busiest_worker_ratio"]
            return Bottleneck(resource=Resource.GENERATOR, share=share)
    for use in _uses(seen):
        if use.share is not None and use.share >= use.least:
            return Bottleneck(resource=use.resource, share=use.share)
    return None


def _uses(seen: Seen) -> list[_Use]:
    """What was waited for comes first: it was short whatever else was busy."""
    below = Resource.HOST_CPU if seen.own_kernel else Resource.CPU_LIMIT
    return [
        _Use(Resource.MEMORY, _share(seen.window, "psi.memory.some_ns"), _WAITED),
        _Use(below, _throttled(seen), _WAITED),
        _Use(Resource.HOST_CPU, _waited_below(seen), _WAITED),
        _Use(Resource.MACHINE_CPU, machine_cpu(seen) if _wanted_cpu(seen) else None),
        _Use(Resource.ONE_CORE_OF_SERVICE, _one_core(seen)),
        # Last, for it is no sign of saturation: a disk that is always busy may serve many at once.
        _Use(Resource.DISK_BUSY_TIME, _share(seen.window, f"disk.{STORE}.io_ns")),
    ]


def _throttled(seen: Seen) -> float:
    """By the limit of the control group that holds the system, or its service."""
    shares = [
        _share(seen.host, f"cgroup.{seen.column}.throttled_ns"),
        _share(seen.window, f"cgroup.{SERVICE}.throttled_ns"),
    ]
    return min(1.0, max((share for share in shares if share is not None), default=0.0))


def _waited_below(seen: Seen) -> float | None:
    """By a processor of a guest, for one of its host: the mean of them."""
    name = f"threads.{seen.column}.{VCPU}"
    waited = _share(seen.host, f"{name}.run_delay_ns")
    vcpus = None if seen.host is None else seen.host.peak(f"{name}.threads")
    return waited / vcpus if waited is not None and vcpus else None


def _wanted_cpu(seen: Seen) -> bool:
    """Whether one of our threads ran or waited for a processor at nearly any time, if it is known.

    Otherwise others used the machine up, and ours waited for something else.
    """
    own = [_share(seen.window, f"process.{OURS}.{name}") for name in ("cpu_ns", "run_delay_ns")]
    known = [share for share in own if share is not None]
    return len(known) < len(own) or sum(known) >= _FULL


def _one_core(seen: Seen) -> float | None:
    cores = _share(seen.window, f"process.{SERVICE}.cpu_ns")
    return None if cores is None or cores > _ONE_CORE_AT_MOST else cores


def _share(window: WindowSamples | None, column: str) -> float | None:
    rate = None if window is None else window.rate_per_s(column)
    return None if rate is None else rate / 1e9


def machine_cpu(seen: Seen) -> float | None:
    """The share of the processors that was used in the window."""
    idle, waiting = seen.window.rate_per_s("cpu.idle_ns"), seen.window.rate_per_s("cpu.iowait_ns")
    if idle is None or waiting is None or not seen.processors:
        return None
    return 1 - (idle + waiting) / (1e9 * seen.processors)
