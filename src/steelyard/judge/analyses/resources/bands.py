"""Median and spread over trials of what the machines used, by the time from the window's start."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

import numpy as np
import numpy.typing as npt

from steelyard.inference.noise.robust import Floats
from steelyard.judge.analyses.resources.findings import ResourceFinding
from steelyard.judge.analyses.resources.readings import RESOURCES, Resource, readings
from steelyard.judge.visits.cell_sums import cell_sums
from steelyard.judge.visits.workload_run import WorkloadRun
from steelyard.plan.model import Cell
from steelyard.records.attempt_folder import Samples
from steelyard.records.counters import Counters
from steelyard.records.schema import TrialRecord

INTERVALS_OF_WINDOW = 50
SAMPLES_OF_INTERVAL = 2
MOST_OF_LIMIT = 1.1
"""Beyond this a reading is refused. Counters grow in steps: what is less beyond is at the limit."""
Integers = npt.NDArray[np.integer[Any]]
_SPREAD = (0.1, 0.5, 0.9)
_NS_PER_S = 1e9


@dataclass
class _Band:
    """Readings of one resource in one cell: of each interval one figure a trial."""

    trials: int = 0
    refused: int = 0
    intervals: dict[int, array[float]] = field(default_factory=dict)


@dataclass
class _OfCell:
    """``interval_ns`` is set by the first trial: windows of a cell are alike."""

    interval_ns: float = 0.0
    windows_s: list[float] = field(default_factory=list)
    limits: dict[str, float | None] = field(default_factory=dict)
    bands: dict[str, _Band] = field(default_factory=dict)


def resource_findings(
    parts: Sequence[WorkloadRun], samples: Iterable[Samples]
) -> list[tuple[ResourceFinding, ...]]:
    """Of each workload one finding for each cell and resource that was sampled and not all zero."""
    sums = cell_sums(parts, _OfCell)
    for each in samples:
        member = sums.by_attempt.get(each.attempt)
        if member is not None:
            _add(member.cell, member.record, each)
    return [
        tuple(finding for cell, total in cells for finding in _findings(cell, total))
        for cells in sums.workloads
    ]


def _add(total: _OfCell, record: TrialRecord, samples: Samples) -> None:
    window_s = _window_s(record)
    start_ns = record.instances[0].started_ns if record.instances else None
    if window_s is None or start_ns is None or not len(samples.counters):
        return
    total.interval_ns = total.interval_ns or _interval_ns(window_s, samples.counters)
    if samples.machine == "system":
        total.windows_s.append(window_s)
    offset_ns = _offset_ns(samples.counters)
    for resource in RESOURCES:
        found = (
            readings(samples.counters, resource) if resource.machine == samples.machine else None
        )
        if found is None:
            continue
        limit = _limit(resource, record.facts.get(samples.machine, {}))
        total.limits[resource.name] = limit
        after_ns = found.at_ns - offset_ns - start_ns
        places = np.floor(after_ns / total.interval_ns).astype(int)
        inside = abs(places - INTERVALS_OF_WINDOW // 2) <= 3 * INTERVALS_OF_WINDOW // 2
        band = total.bands.setdefault(resource.name, _Band())
        _add_trial(band, places[inside], found.values[inside], limit)


def _add_trial(band: _Band, places: Integers, values: Floats, limit: float | None) -> None:
    """The mean of each interval, unless the machine cannot have had so much."""
    band.trials += 1
    first = int(places.min()) if len(places) else 0
    counts = np.bincount(places - first)
    sums = np.bincount(places - first, values)
    for place in np.flatnonzero(counts):
        mean = float(sums[place] / counts[place])
        if limit is not None and mean > limit * MOST_OF_LIMIT:
            band.refused += 1
        else:
            held = mean if limit is None else min(mean, limit)
            band.intervals.setdefault(first + int(place), array("d")).append(held)


def _window_s(record: TrialRecord) -> float | None:
    """Of a load its window, of a tool its run."""
    taken_ns = record.phases_ns.get("window", record.phases_ns.get("measure"))
    return taken_ns / _NS_PER_S if taken_ns else None


def _interval_ns(window_s: float, counters: Counters) -> float:
    """Equal parts of the window, each of two samples or more."""
    between = np.diff(counters.floats("monotonic_ns"))
    least = float(np.median(between)) if len(between) else 0.0
    return max(window_s * _NS_PER_S / INTERVALS_OF_WINDOW, SAMPLES_OF_INTERVAL * least)


def _offset_ns(counters: Counters) -> float:
    """What the machine's clock is ahead of the controller's, whose time the window has."""
    if "controller_ns" not in counters.columns:
        return 0.0
    own, controllers = counters["monotonic_ns"][0], counters["controller_ns"][0]
    return float((own or 0) - (controllers or 0))


def _limit(resource: Resource, facts: Mapping[str, str | None]) -> float | None:
    if resource.limit is None:
        return None
    if resource.limit == "whole":
        return 1.0
    count, quota, period = (
        facts.get(name) for name in ("cpu.count", "cgroup.cpu_quota_us", "cgroup.cpu_period_us")
    )
    has = [float(count)] if count is not None and count.isdigit() else []
    if quota is not None and period is not None and quota.isdigit() and period.isdigit():
        has.append(float(quota) / float(period))
    return min(has, default=None)


def _findings(cell: Cell, total: _OfCell) -> Iterator[ResourceFinding]:
    for resource in RESOURCES:
        band = total.bands.get(resource.name)
        if band is None or not total.windows_s:
            continue
        kept = {
            place: np.quantile(values, _SPREAD)
            for place, values in sorted(band.intervals.items())
            if 2 * len(values) >= band.trials
        }
        if not any(spread[-1] > 0 for spread in kept.values()):
            continue
        low, middle, high = (
            tuple(_short(spread[which]) for spread in kept.values()) for which in range(3)
        )
        yield ResourceFinding(
            cell=cell,
            resource=resource.name,
            unit=resource.unit,
            limit=total.limits[resource.name],
            trials=band.trials,
            refused=band.refused,
            window_s=median(total.windows_s),
            at_s=tuple(_short((p + 0.5) * total.interval_ns / _NS_PER_S) for p in kept),
            median=middle,
            low=low,
            high=high,
        )


def _short(value: float) -> float:
    """Four digits: a drawing shows three, and there are many figures."""
    return float(f"{value:.4g}")
