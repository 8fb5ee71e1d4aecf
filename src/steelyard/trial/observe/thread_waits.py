"""What the threads of the service waited for when samples were taken: a disk, or one another. Pure.

Thread state analysis: a thread runs, waits for a processor, for a disk or for another thread, or
has nothing to do. The first two are counted by the kernel, the others seen at each sample.
"""

from __future__ import annotations

from typing import NamedTuple

from steelyard.trial.observe.devices import STORE
from steelyard.trial.observe.responses import SERVICE, Seen
from steelyard.trial.observe.window import WindowSamples

_LEAST_BLOCKED = 0.5
"""Threads on average: of fewer, the service had something else to wait for, or nothing to do."""
_REFAULTS = ("memory.refault_anon_bytes", "memory.refault_file_bytes")
_REQUESTS = ("read", "write", "flush")


class DiskWait(NamedTuple):
    """``share``: of the time of threads that ran, or waited for a processor or a disk, that of the
    disk. ``read_again``: how much of it was for pages that memory had held and had no room for.
    """

    share: float
    read_again: float


def waited_for_disk(seen: Seen) -> DiskWait | None:
    """``None`` where it is not known, or too few threads waited."""
    window = seen.window
    blocked = window.mean(f"process.{SERVICE}.blocked_threads")
    spent = [window.rate_per_s(f"process.{SERVICE}.{name}") for name in ("cpu_ns", "run_delay_ns")]
    known = [each for each in spent if each is not None]
    if blocked is None or blocked < _LEAST_BLOCKED or len(known) < len(spent):
        return None
    return DiskWait(blocked / (blocked + sum(known) / 1e9), _read_again(window))


def _read_again(window: WindowSamples) -> float:
    """Of the bytes that the service read, times the share of reading in the time of the disk.

    Only the whole machine tells what is read again: no more than the service read was its own.
    """
    again = [window.rate_per_s(column) for column in _REFAULTS]
    read = window.rate_per_s(f"process.{SERVICE}.read_bytes")
    if not read:
        return 0.0
    times = [window.rate_per_s(f"disk.{STORE}.{kind}_ns") or 0.0 for kind in _REQUESTS]
    reading = times[0] / sum(times) if sum(times) else 1.0
    return reading * min(1.0, sum(each or 0.0 for each in again) / read)


def waited_for_one_another(seen: Seen) -> float | None:
    """In how many of the operations under way a thread of the service waits for another one.

    At least: threads beyond the number of these operations are taken to be idle, which is the same
    to the kernel. ``None`` where either is not known.
    """
    futex, threads = (
        seen.window.mean(f"process.{SERVICE}.{name}") for name in ("futex_threads", "threads")
    )
    operations = _under_way(seen)
    if futex is None or threads is None or not operations:
        return None
    return min(1.0, max(0.0, futex - max(0.0, threads - operations)) / operations)


def _under_way(seen: Seen) -> float | None:
    """Operations at a time, by Little's law."""
    if seen.driven is None or seen.driven.stream is not None:
        return None
    times = seen.driven.latency_ns
    mean_ns = times.get("service", times["response"]).mean if "response" in times else None
    return None if mean_ns is None else seen.driven.rates.ok_per_s * mean_ns / 1e9
