"""Cumulative counters of a sampled series to readings over time.

A series is a table with ``monotonic_ns`` and one column per counter, as the sampler read them.
A rate belongs to the interval between two rows and stands at its middle. A counter that the
kernel did not offer, or that ran backwards, gives no reading: it is missing, never 0.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NamedTuple

import numpy as np

from steelyard.inference.noise.robust import Floats
from steelyard.judge.analyses.resources.findings import ResourceName
from steelyard.records.counters import Counters

_NS_PER_S = 1e9
_BUSY = r"cpu\.(user|nice|system|irq|softirq)_ns"
_ALL_CPU_TIME = r"cpu\.(user|nice|system|idle|iowait|irq|softirq|steal)_ns"


class Readings(NamedTuple):
    """Values at moments in ns of the clock of the series."""

    at_ns: Floats
    values: Floats


@dataclass(frozen=True)
class Resource:
    """One resource: on which machine, which columns it sums, and how they become a figure.

    ``kind`` is ``rate`` (growth a second, over ``divisor``) or ``level`` (as read).
    ``share_of`` names the columns whose growth is the whole, for a share. ``limit``: what bounds
    it, the processors of the machine or 1.
    """

    name: ResourceName
    unit: str
    columns: str
    machine: str = "system"
    kind: Literal["rate", "level"] = "rate"
    divisor: float = 1.0
    share_of: str | None = None
    limit: Literal["processors", "whole"] | None = None


def _cpu(name: ResourceName, columns: str, machine: str = "system") -> Resource:
    return Resource(name, "cores", columns, machine, divisor=_NS_PER_S, limit="processors")


RESOURCES: tuple[Resource, ...] = (
    _cpu("service_cpu", r"process\.service\.(.+\.)?cpu_ns"),
    _cpu("system_cpu", _BUSY),
    _cpu("host_cpu", _BUSY, "host"),
    _cpu("generator_cpu", _BUSY, "generator"),
    Resource("disk_write", "B/s", r"disk\..+\.write_bytes"),
    Resource("disk_flush", "flushes/s", r"disk\..+\.flushes"),
    Resource("service_memory", "B", r"process\.service\.(.+\.)?rss_bytes", kind="level"),
    Resource("memory_dirty", "B", r"memory\.(dirty|writeback)_bytes", kind="level"),
    Resource("steal", "ratio", r"cpu\.steal_ns", share_of=_ALL_CPU_TIME, limit="whole"),
    Resource("io_pressure", "ratio", r"psi\.io\.some_ns", divisor=_NS_PER_S, limit="whole"),
)


def readings(series: Counters, resource: Resource) -> Readings | None:
    """The resource over the trial; ``None`` when it was not sampled."""
    columns = _matching(series, resource.columns)
    if not columns or "monotonic_ns" not in series.columns:
        return None
    stamps = series.floats("monotonic_ns")
    totals = _row_sums(series, columns)
    if resource.kind == "level":
        return _known(stamps, totals / resource.divisor)
    passed = np.diff(stamps)
    if resource.share_of is None:
        whole = passed / _NS_PER_S * resource.divisor
    else:
        whole = _growth(_row_sums(series, _matching(series, resource.share_of)))
    grown = _growth(totals)
    with np.errstate(divide="ignore", invalid="ignore"):
        values = np.where((passed > 0) & (whole > 0), grown / whole, np.nan)
    return _known(stamps[:-1] + passed / 2, values)


def _known(at_ns: Floats, values: Floats) -> Readings | None:
    known = np.isfinite(values)
    return Readings(at_ns[known], values[known]) if known.any() else None


def _matching(series: Counters, pattern: str) -> tuple[str, ...]:
    return _names_of(pattern, tuple(series.columns))


@lru_cache(maxsize=512)  # the trials of a run have the same columns
def _names_of(pattern: str, names: tuple[str, ...]) -> tuple[str, ...]:
    wanted = re.compile(pattern)
    return tuple(name for name in names if wanted.fullmatch(name))


def _row_sums(series: Counters, columns: Iterable[str]) -> Floats:
    """Not a number where one of the columns is not known."""
    found = [series.floats(name) for name in columns]
    return np.asarray(np.sum(found, axis=0), dtype=np.float64)


def _growth(totals: Floats) -> Floats:
    grown = np.diff(totals)
    return np.where(grown >= 0, grown, np.nan)
