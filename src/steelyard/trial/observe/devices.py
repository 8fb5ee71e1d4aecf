"""What the disks and the network devices of a machine did in the window. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from steelyard.records.missing import MissingKind, NoDiskTime, Reading, Reason
from steelyard.trial.observe.window import WindowSamples

Request = Literal["read", "write", "flush"]
STORE = "store"
"""The disk that the service's files lie on; on the host, the one that carries the instance's."""
LOOPBACK = "lo"
_NOT_MEASURED = Reason(kind="not_measured")
_LEAST_TOLD_MS = 20.0
"""The kernel counts times of disks in whole milliseconds: of less, a mean would be off by 5 %."""


def rate_of(window: WindowSamples, column: str, scale: float = 1.0) -> Reading:
    """Growth of a counter a second, or why there is none."""
    rate = window.rate_per_s(column)
    return (window.why_missing(column) or _NOT_MEASURED) if rate is None else rate * scale


def disk_rate(window: WindowSamples, figure: str) -> Reading:
    """Of the disk that the files lie on: ``writes``, ``write_bytes``, ``flushes`` ..., a second."""
    return rate_of(window, f"disk.{STORE}.{figure}")


def disk_time(window: WindowSamples, kind: Request) -> Reading:
    """Mean time of a request in ns, from its issue to its end, waiting in the queue included.

    ``kind`` is ``read``, ``write`` or ``flush``. What iostat calls ``r_await``, ``w_await`` and
    ``f_await``: the time of all requests that ended in the window, by their number.
    """
    plural = "flushes" if kind == "flush" else f"{kind}s"
    count, spent = disk_rate(window, plural), disk_rate(window, f"{kind}_ns")
    if isinstance(count, MissingKind):
        return count
    if isinstance(spent, MissingKind):
        return spent
    if not count:
        return NoDiskTime(kind="no_disk_request", request=kind, least_ms=_LEAST_TOLD_MS)
    if spent * window.span_s < _LEAST_TOLD_MS * 1e6:
        return NoDiskTime(kind="disk_time_too_short", request=kind, least_ms=_LEAST_TOLD_MS)
    return spent / count


def network_rate(window: WindowSamples, figure: str, *, loopback: bool) -> Reading:
    """Bytes a second over all devices of the machine; ``figure``: ``rx_bytes`` or ``tx_bytes``.

    Of the loopback device alone where the load comes through it, without it elsewhere: what a
    server tells itself is no traffic of the line.
    """
    devices = [
        column
        for column in window.counters.columns
        if column.startswith("net.") and column.endswith(f".{figure}")
    ]
    own = [each for each in devices if (each == f"net.{LOOPBACK}.{figure}") == loopback]
    if not own:
        return Reason(kind="no_network_device")
    return total_of([rate_of(window, column) for column in own])


def total_of(readings: Sequence[Reading]) -> Reading:
    """The sum; without one of them, why that is missing."""
    missing = next((each for each in readings if isinstance(each, MissingKind)), None)
    return missing or sum(each for each in readings if not isinstance(each, MissingKind))
