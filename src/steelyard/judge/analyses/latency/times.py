"""From the times of each trial to what is found of its cell.

The tail holds all answers of all trials; a percentile is one figure a trial, and its interval is
over trials, for these are repetitions and operations within one are not.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

from steelyard.judge.analyses.latency.findings import (
    LatencyFinding,
    LatencyIntervalFinding,
    PercentileFinding,
    PhaseFinding,
)
from steelyard.judge.cells import INTERVAL_LEVEL, median_interval
from steelyard.judge.visits.cell_sums import cell_sums
from steelyard.judge.visits.workload_run import WorkloadRun
from steelyard.plan.model import Cell
from steelyard.records.load_results import Bars, LoadTimes, bars_of, end_of_bar

SHARES = (0.5, 0.9, 0.95, 0.99, 0.999)
MOST_INTERVALS = 60
_SAMPLES_ABOVE = 10
_ROUNDING = 1e-9
_NS_PER_S = 1e9


@dataclass
class _OfCell:
    """What the trials of one cell add up to."""

    trials: int = 0
    failed: int = 0
    longest_ns: int = 0
    bars: Counter[int] = field(default_factory=Counter)
    percentiles: dict[float, list[float]] = field(default_factory=lambda: {s: [] for s in SHARES})
    phases: dict[str, tuple[int, float]] = field(default_factory=dict)
    intervals: dict[int, Counter[int]] = field(default_factory=dict)

    def add(self, times: LoadTimes) -> None:
        self.trials += 1
        self.failed += times.failed
        self.longest_ns = max(self.longest_ns, times.longest_ns)
        self.bars.update(bars_of(times.buckets))
        for share, value in _percentiles(times):
            self.percentiles[share].append(value)
        for name, phase in times.phases.items():
            count, total_ns = self.phases.get(name, (0, 0.0))
            more_ns = phase.count * phase.mean_ns
            self.phases[name] = count + phase.count, total_ns + more_ns
        for each in times.intervals:
            self.intervals.setdefault(each.start_ns, Counter()).update(each.bars)


def latency_findings(
    parts: Sequence[WorkloadRun], times: Iterable[tuple[str, LoadTimes]]
) -> list[tuple[LatencyFinding, ...]]:
    """Of each workload one finding for each cell that was loaded; ``times`` by attempt key."""
    sums = cell_sums(parts, _OfCell)
    for attempt, seen in times:
        member = sums.by_attempt.get(attempt)
        if member is not None:
            member.cell.add(seen)
    return [
        tuple(_finding(cell, total) for cell, total in cells if total.trials)
        for cells in sums.workloads
    ]


def _finding(cell: Cell, total: _OfCell) -> LatencyFinding:
    return LatencyFinding(
        cell=cell,
        trials=total.trials,
        answered=sum(total.bars.values()),
        failed=total.failed,
        percentiles=tuple(
            _percentile(share, values, total.trials) for share, values in total.percentiles.items()
        ),
        tail=tuple(_tail(total.bars, total.longest_ns)),
        phases=tuple(
            PhaseFinding(name=name, operations=count, mean_ns=total_ns / count)
            for name, (count, total_ns) in total.phases.items()
        ),
        over_time=tuple(_over_time(total.intervals)),
    )


def _percentiles(times: LoadTimes) -> Iterator[tuple[float, float]]:
    """Of all operations, the failed ones behind all others; only those that samples bear."""
    answered = sum(times.buckets.values())
    of_all = answered + times.failed
    ordered = sorted(times.buckets.items())
    for share in SHARES:
        rank = math.ceil(of_all * share - _ROUNDING)
        if rank <= answered and of_all - rank >= _SAMPLES_ABOVE:
            yield share, min(_at(ordered, rank), float(times.longest_ns))


def _at(ordered: Sequence[tuple[tuple[int, int], int]], rank: int) -> float:
    """The longest time of the bucket that holds this rank."""
    seen = 0
    for (_, beyond), count in ordered:
        seen += count
        if seen >= rank:
            return float(beyond - 1)
    raise ValueError("a rank beyond the distribution")


def _percentile(share: float, values: Sequence[float], trials: int) -> PercentileFinding:
    whole = len(values) == trials
    low_ns, high_ns = median_interval(values) if whole else (None, None)
    return PercentileFinding(
        share=share,
        value_ns=median(values) if whole else None,
        low_ns=low_ns,
        high_ns=high_ns,
        interval_level=INTERVAL_LEVEL,
        trials=len(values),
        needed=round(_SAMPLES_ABOVE / (1 - share)),
    )


def _tail(bars: Mapping[int, int], longest_ns: int) -> Iterator[tuple[int, int]]:
    """How many took at least so long, at both edges of each bar, and at the longest."""
    left, before = sum(bars.values()), 0
    for low_ns in sorted(bars):
        if low_ns != before:
            yield low_ns, left
        left -= bars[low_ns]
        before = end_of_bar(low_ns)
        if left:
            yield before, left
        elif longest_ns > low_ns:
            yield longest_ns, 1


def _over_time(intervals: Mapping[int, Bars]) -> Iterator[LatencyIntervalFinding]:
    """Intervals from the window's start on, taken together until few enough are left."""
    starts = sorted(intervals)
    together = math.ceil(len(starts) / MOST_INTERVALS) or 1
    for first in range(0, len(starts), together):
        bars: Counter[int] = Counter()
        for start_ns in starts[first : first + together]:
            bars.update(intervals[start_ns])
        yield LatencyIntervalFinding(
            start_s=starts[first] / _NS_PER_S, bars=tuple(sorted(bars.items()))
        )
