"""What the generator counted in the window of a trial: response times, throughput by interval."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

from steelyard.records.histogram import Buckets, add_buckets, read_buckets

BARS_IN_TENFOLD = 20
_PHASE = "phase."

Bars = dict[int, int]
"""Answers by the shortest time of their bar: twenty bars of equal width in each tenfold."""


@dataclass(frozen=True)
class TimesOfInterval:
    """One interval of the window, from its start; only of engines that keep bars by time."""

    start_ns: int
    bars: Bars


@dataclass(frozen=True)
class MeanOfPhase:
    """How often a phase of an operation succeeded, and its exact mean."""

    count: int
    mean_ns: float


@dataclass(frozen=True)
class LoadTimes:
    """The times of all loads of a trial. ``failed`` counts also what was due and never sent."""

    buckets: Buckets
    failed: int
    longest_ns: int
    phases: dict[str, MeanOfPhase] = field(default_factory=dict)
    intervals: tuple[TimesOfInterval, ...] = ()


class Load(NamedTuple):
    """What the loads of one trial say."""

    course: Course | None
    times: LoadTimes | None


def load_of(documents: list[dict[str, Any]]) -> Load:
    """The course and the times over all loads of a trial.

    Raises:
        ValueError: a distribution cannot be read.
    """
    return Load(course_of(documents), load_times_of(documents))


def load_times_of(documents: list[dict[str, Any]]) -> LoadTimes | None:
    """The times over all loads of a trial; ``None`` where no operation was answered.

    Raises:
        ValueError: a distribution cannot be read.
    """
    buckets: Buckets = {}
    longest_ns = 0
    for document in documents:
        response = document["latency_ns"].get("response")
        if response is None or not response["count"]:
            continue
        add_buckets(buckets, read_buckets(response["hdr_v2_b64"]))
        longest_ns = max(longest_ns, response["max"])
    if not buckets:
        return None
    counts = [document["counts"] for document in documents]
    return LoadTimes(
        buckets=buckets,
        failed=sum(each["errors"] + each["unsent"] for each in counts),
        longest_ns=longest_ns,
        phases=_phases(documents),
        intervals=_intervals(documents),
    )


def bars_of(buckets: Buckets) -> Bars:
    """The same answers in bars, each bucket by its middle."""
    bars: Bars = {}
    for bucket, count in buckets.items():
        bar = _bar_of(bucket)
        bars[bar] = bars.get(bar, 0) + count
    return bars


@lru_cache(maxsize=2**15)  # the trials of a run have mostly the same buckets
def _bar_of(bucket: tuple[int, int]) -> int:
    low, beyond = bucket
    return _edge(_place((low + beyond - 1) / 2))


def end_of_bar(low_ns: int) -> int:
    """Where the bar ends that begins there."""
    return _edge(round(math.log10(low_ns) * BARS_IN_TENFOLD) + 1)


def _place(time_ns: float) -> int:
    return math.floor(math.log10(max(1.0, time_ns)) * BARS_IN_TENFOLD)


def _edge(place: int) -> int:
    return round(10 ** (place / BARS_IN_TENFOLD))


def _phases(documents: list[dict[str, Any]]) -> dict[str, MeanOfPhase]:
    sums: dict[str, tuple[int, float]] = {}
    for document in documents:
        for name, latency in document["latency_ns"].items():
            if name.startswith(_PHASE) and latency["count"]:
                phase = name.removeprefix(_PHASE)
                count, total_ns = sums.get(phase, (0, 0.0))
                more_ns = latency["mean"] * latency["count"]
                sums[phase] = count + latency["count"], total_ns + more_ns
    return {name: MeanOfPhase(count, total / count) for name, (count, total) in sums.items()}


def _intervals(documents: list[dict[str, Any]]) -> tuple[TimesOfInterval, ...]:
    """Bars by time where every load has them.

    The last row, which answers after the window's end are counted in, is left out.
    """
    rows = [(document.get("series") or [])[:-1] for document in documents]
    if not all("times" in row for each in rows for row in each):
        return ()
    found = []
    for together in zip(*rows, strict=False):
        bars: Bars = {}
        for row in together:
            for low_ns, count in row["times"]:
                bars[low_ns] = bars.get(low_ns, 0) + count
        found.append(TimesOfInterval(together[0]["start_ns"], bars))
    return tuple(found)


_NS_PER_S = 1e9


@dataclass(frozen=True)
class Course:
    """Good answers a second in equal intervals from the window's start on."""

    interval_s: float
    per_s: tuple[float, ...]


def course_of(documents: list[dict[str, Any]]) -> Course | None:
    """The course over all loads of a trial, which share their intervals; ``None`` without rows.

    The last row may be shorter than the rest, and answers after the window's end are counted in
    it: it is left out.
    """
    rows = [document.get("series") or [] for document in documents]
    whole = min((len(each) for each in rows), default=0) - 1
    if whole < 2:
        return None
    starts = [row["start_ns"] for row in rows[0][: whole + 1]]
    interval_s = (starts[-1] - starts[0]) / whole / _NS_PER_S
    counts = [sum(each[place]["ok"] for each in rows) for place in range(whole)]
    return Course(interval_s, tuple(count / interval_s for count in counts))
