"""Cumulative counters of a sampled series to rates over time.

A series is a frame with ``monotonic_ns`` and one column per counter, as the sampler read them.
A rate belongs to the interval between two rows and is stamped at its end, in seconds since the
first row. A counter that the kernel did not offer, or that ran backwards, gives no rate: the
point is missing, never 0.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

import polars as pl

NS_PER_S = 1e9


class Point(NamedTuple):
    """A reading at ``at_s`` seconds after the first sample of its trial."""

    at_s: float
    value: float


@dataclass(frozen=True)
class Resource:
    """One resource drawn over time: which columns it sums, and how they become a figure.

    ``kind`` is ``rate`` (counter per second, scaled by ``factor``) or ``level`` (as read).
    ``share_of`` names the columns whose rate is the whole, for a share in percent.
    """

    name: str
    label: str
    unit: str
    columns: str
    kind: str = "rate"
    factor: float = 1.0
    share_of: str | None = None


RESOURCES: tuple[Resource, ...] = (
    Resource("service_cpu", "CPU of the service", "cores",
             r"process\.service\.cpu_ns", factor=1 / NS_PER_S),
    Resource("generator_cpu", "CPU of the load generator", "cores",
             r"process\.generator\.cpu_ns", factor=1 / NS_PER_S),
    Resource("disk_write", "Disk writes", "MiB/s", r"disk\..+\.write_bytes", factor=2.0**-20),
    Resource("disk_flush", "Disk flushes", "flushes/s", r"disk\..+\.flushes"),
    Resource("service_memory", "Memory of the service", "MiB",
             r"process\.service\.rss_bytes", kind="level", factor=2.0**-20),
    Resource("memory_dirty", "Memory waiting to be written", "MiB",
             r"memory\.(dirty|writeback)_bytes", kind="level", factor=2.0**-20),
    Resource("steal", "Time stolen by the hypervisor", "% of CPU time", r"cpu\.steal_ns",
             share_of=r"cpu\.(user|nice|system|idle|iowait|irq|softirq|steal)_ns"),
    Resource("io_pressure", "Tasks waiting for I/O", "% of the time",
             r"psi\.io\.some_ns", factor=100 / NS_PER_S),
)  # fmt: skip


def points(series: pl.DataFrame, resource: Resource) -> list[Point]:
    """The resource over the trial; empty when it was not sampled."""
    columns = _matching(series, resource.columns)
    if not columns or "monotonic_ns" not in series.columns:
        return []
    stamps = [int(stamp) for stamp in series["monotonic_ns"].to_list()]
    totals = _row_sums(series, columns)
    if resource.kind == "level":
        return _levels(stamps, totals, resource.factor)
    if resource.share_of is not None:
        whole = _row_sums(series, _matching(series, resource.share_of))
        return _shares(stamps, totals, whole)
    return _rates(stamps, totals, resource.factor)


def _matching(series: pl.DataFrame, pattern: str) -> list[str]:
    return [name for name in series.columns if re.fullmatch(pattern, name)]


def _row_sums(series: pl.DataFrame, columns: Iterable[str]) -> list[float | None]:
    rows = zip(*(series[name].to_list() for name in columns), strict=True)
    return [_sum_or_none(row) for row in rows]


def _sum_or_none(row: tuple[float | None, ...]) -> float | None:
    known = [value for value in row if value is not None]
    return sum(known) if known and len(known) == len(row) else None


def _levels(stamps: list[int], totals: list[float | None], factor: float) -> list[Point]:
    start = stamps[0] if stamps else 0
    return [
        Point((at - start) / NS_PER_S, total * factor)
        for at, total in zip(stamps, totals, strict=True)
        if total is not None
    ]


def _rates(stamps: list[int], totals: list[float | None], factor: float) -> list[Point]:
    def rate(passed_ns: int, row: int) -> float | None:
        grown = _growth(totals, row)
        return None if grown is None else grown * factor * NS_PER_S / passed_ns

    return _between_rows(stamps, rate)


def _shares(
    stamps: list[int], parts: list[float | None], wholes: list[float | None]
) -> list[Point]:
    def share(_passed_ns: int, row: int) -> float | None:
        part, whole = _growth(parts, row), _growth(wholes, row)
        return None if part is None or not whole else 100 * part / whole

    return _between_rows(stamps, share)


def _between_rows(stamps: list[int], value: Callable[[int, int], float | None]) -> list[Point]:
    found = []
    for row in range(1, len(stamps)):
        passed_ns = stamps[row] - stamps[row - 1]
        seen = value(passed_ns, row) if passed_ns > 0 else None
        if seen is not None:
            found.append(Point((stamps[row] - stamps[0]) / NS_PER_S, seen))
    return found


def _growth(totals: list[float | None], row: int) -> float | None:
    now, before = totals[row], totals[row - 1]
    if now is None or before is None or now < before:
        return None
    return now - before
