"""What the disks and the network devices of a machine did in the window. Pure."""

from __future__ import annotations

from steelyard.trial.observe.flows import Reading
from steelyard.trial.observe.window import WindowSamples

STORE = "store"
"""The disk that the service's files lie on; on the host, the one that carries the instance's."""
LOOPBACK = "lo"
_LEAST_TOLD_NS = 20_000_000
"""The kernel tells times of disks in whole milliseconds: of less, a mean would be off by 5 %."""


def rate_of(window: WindowSamples, column: str, scale: float = 1.0) -> Reading:
    """Growth of a counter a second, or why there is none."""
    rate = window.rate_per_s(column)
    if rate is None:
        return None, window.why_missing(column) or "not sampled"
    return rate * scale, None


def disk_rate(window: WindowSamples, figure: str) -> Reading:
    """Of the disk that the files lie on: ``writes``, ``write_bytes``, ``flushes`` ..., a second."""
    return rate_of(window, f"disk.{STORE}.{figure}")


def disk_time(window: WindowSamples, kind: str) -> Reading:
    """Mean time of a request in ns, from its issue to its end, waiting in the queue included.

    ``kind`` is ``read``, ``write`` or ``flush``. What iostat calls ``r_await``, ``w_await`` and
    ``f_await``: the time of all requests that ended in the window, by their number.
    """
    plural = "flushes" if kind == "flush" else f"{kind}s"
    count, missing = disk_rate(window, plural)
    spent, untold = disk_rate(window, f"{kind}_ns")
    if count is None or spent is None:
        return None, missing or untold or "not sampled"
    if not count:
        return None, f"no {kind} ended in the window"
    if spent * window.span_s < _LEAST_TOLD_NS:
        return (
            None,
            f"all {plural} took less than 20 ms together, counted in steps of 1 ms",
        )
    return spent / count, None


def network_rate(window: WindowSamples, figure: str, *, loopback: bool) -> Reading:
    """Bytes a second over all devices of the machine; ``figure``: ``rx_bytes`` or ``tx_bytes``.

    Of the loopback device alone where the load comes through it, without it elsewhere: what a
    server tells itself is no traffic of the line.
    """
    devices = [
        column
        for column in window.frame.columns
        if column.startswith("net.") and column.endswith(f".{figure}")
    ]
    own = [each for each in devices if (each == f"net.{LOOPBACK}.{figure}") == loopback]
    if not own:
        return None, "no network device that the load came through was sampled"
    total = 0.0
    for column in own:
        value, missing = rate_of(window, column)
        if value is None:
            return None, missing or "not sampled"
        total += value
    return total, None
