"""The bottleneck of a trial: what was used up of the resources that were sampled, worst first.

Of memory, disks and limits it is how long something waited for more; of a disk for which no
thread is seen to wait, only its busy time is known.

Pure; it is reported for every cell and decides nothing.
"""

from __future__ import annotations

from typing import NamedTuple

from steelyard.records.warnings import Bottleneck, Resource, UsedUp, WarningKind
from steelyard.systems.platform import VCPU
from steelyard.trial.observe.devices import STORE
from steelyard.trial.observe.disturbances import OURS
from steelyard.trial.observe.network_queues import waiting_to_be_sent
from steelyard.trial.observe.responses import SERVICE, Seen
from steelyard.trial.observe.thread_waits import waited_for_disk, waited_for_one_another
from steelyard.trial.observe.window import WindowSamples

_FULL = 0.9
_WAITED = 0.1
"""Of the window: less is felt by no more than a tenth of what was measured."""
_MOSTLY = 0.5
_ONE_CORE_AT_MOST = 1.1  # a service that uses more is not held back by one core


class _Use(NamedTuple):
    """How much of a resource was used, or waited for, and from which share on it was short."""

    resource: Resource
    share: float | None
    least: float = _FULL


def bottleneck_of(seen: Seen) -> Bottleneck | None:
    """What was used up, the worst and the others; ``None`` when nothing of it was."""
    short: dict[Resource, UsedUp] = {}
    for use in (*_of_generator(seen), *_uses(seen)):
        if use.share is not None and use.share >= use.least:
            short.setdefault(use.resource, UsedUp(resource=use.resource, share=use.share))
    if not short:
        return None
    worst, *also = short.values()
    return Bottleneck(resource=worst.resource, share=worst.share, also=tuple(also))


def _of_generator(seen: Seen) -> list[_Use]:
    warnings = () if seen.driven is None else seen.driven.verdict.warnings
    return [
        _Use(Resource.GENERATOR, each.figures["busiest_worker_ratio"], 0.0)
        for each in warnings
        if each.kind == WarningKind.GENERATOR_BOUND
    ]


def _uses(seen: Seen) -> list[_Use]:
    """What was waited for comes first, the longest wait before others: it was short whatever else
    was busy. A queue of connections comes last, for it fills behind anything that is slow.
    """
    waited = [
        _Use(Resource.MEMORY, _share(seen.window, "psi.memory.some_ns"), _WAITED),
        _limit(seen),
        _Use(Resource.HOST_CPU, _waited_below(seen), _WAITED),
        _Use(Resource.NETWORK, waiting_to_be_sent(seen.window)),
        _disk_or_memory(seen),
    ]
    return [
        *sorted(waited, key=lambda use: use.share or 0.0, reverse=True),
        _Use(Resource.MACHINE_CPU, machine_cpu(seen) if _wanted_cpu(seen) else None),
        _Use(Resource.ONE_CORE_OF_SERVICE, _one_core(seen)),
        _Use(Resource.LOCK, waited_for_one_another(seen), _MOSTLY),
        # No sign of saturation: a disk that is always busy may serve many at once.
        _Use(Resource.DISK_BUSY_TIME, _share(seen.window, f"disk.{STORE}.io_ns")),
        _Use(Resource.ACCEPT_QUEUE, seen.window.share_above_zero("tcp.accept_queue")),
    ]


def _disk_or_memory(seen: Seen) -> _Use:
    """What threads waited for a disk for: where that is mostly what memory had no room for, memory
    is what was short.
    """
    wait = waited_for_disk(seen)
    if wait is None:
        return _Use(Resource.DISK_WAIT, None)
    memory = wait.read_again >= _MOSTLY
    return _Use(Resource.MEMORY if memory else Resource.DISK_WAIT, wait.share, _MOSTLY)


def _limit(seen: Seen) -> _Use:
    """By the limit of the control group that holds the system, or its service.

    A period in which it was held back is one in which it has used all that it may have. Where that
    is most of them the limit decides, however little of each was left: on a busy machine a group
    comes to its limit late.
    """
    resource = Resource.HOST_CPU if seen.own_kernel else Resource.CPU_LIMIT
    groups = ((seen.host, f"cgroup.{seen.column}"), (seen.window, f"cgroup.{SERVICE}"))
    times = [_share(window, f"{group}.throttled_ns") for window, group in groups]
    periods = [_of_periods(window, group) for window, group in groups]
    time = min(1.0, max((share for share in times if share is not None), default=0.0))
    often = max((share for share in periods if share is not None), default=0.0)
    if often >= _MOSTLY:
        return _Use(resource, max(time, often), _WAITED)
    return _Use(resource, time, _WAITED)


def _of_periods(window: WindowSamples | None, group: str) -> float | None:
    if window is None:
        return None
    held, of = (window.rate_per_s(f"{group}.{n}") for n in ("throttled_periods", "periods"))
    return None if held is None or not of else held / of


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
    """Used, or waited for: a core that is all a service may have is also used by others."""
    cores = _share(seen.window, f"process.{SERVICE}.cpu_ns")
    if cores is None or cores > _ONE_CORE_AT_MOST:
        return None
    waited = _share(seen.window, f"process.{SERVICE}.run_delay_ns") or 0.0
    return min(1.0, cores + waited) if cores >= _MOSTLY else cores


def _share(window: WindowSamples | None, column: str) -> float | None:
    rate = None if window is None else window.rate_per_s(column)
    return None if rate is None else rate / 1e9


def machine_cpu(seen: Seen) -> float | None:
    """The share of the processors that was used in the window."""
    idle, waiting = seen.window.rate_per_s("cpu.idle_ns"), seen.window.rate_per_s("cpu.iowait_ns")
    if idle is None or waiting is None or not seen.processors:
        return None
    return 1 - (idle + waiting) / (1e9 * seen.processors)
