"""What an event did to the service: the dip in the course of the window, its depth and its length.

Pure. The engine records the window in equal intervals by the time of the answers. An answer that
came at ``t`` after a response time of ``x`` says that somebody waited from ``t - x`` to ``t``. The
dip is the time that operations spent waiting which turned out late, with the intervals in which
operations failed, and the stretches without an answer that are longer than any before the event.

Moments are ns from the start of the window. An interval stands for its middle: with the start of
the event at random within an interval, lengths are then right on average (``events.py`` draws it).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from statistics import mean, median
from typing import Any

from steelyard.records.missing import LateBefore, MissingKind, NotRecovered, Reading, Reason
from steelyard.records.schema import Measured

Spell = tuple[float, float]
"""From one moment to another."""
_MOST_LATE_BEFORE = 0.1
_NO_GOOD_ANSWER = Reason(kind="no_good_answer")
_MS = 1e6


@dataclass(frozen=True)
class Row:
    """One interval: answers by the time at which they came; ``max_ns`` is the longest of them."""

    middle_ns: float
    ok: int
    errors: int
    max_ns: int | None


@dataclass(frozen=True)
class Course:
    """The whole intervals of a window."""

    rows: tuple[Row, ...]
    width_ns: float

    @property
    def end_ns(self) -> float:
        return self.rows[-1].middle_ns + self.width_ns / 2

    def between(self, start_ns: float, end_ns: float) -> tuple[Row, ...]:
        """Intervals that lie wholly between two moments."""
        half = self.width_ns / 2
        return tuple(
            r for r in self.rows if start_ns <= r.middle_ns - half and r.middle_ns + half <= end_ns
        )


@dataclass(frozen=True)
class Happened:
    """One event: ``since_ns`` is from when on the service was as before it."""

    began_ns: float
    ended_ns: float
    since_ns: float
    late_ns: float
    calm_ns: float


@dataclass(frozen=True)
class Dip:
    """Spells of waiting, none where nothing was late; ``over_ns`` is ``None`` where it lasted."""

    spells: tuple[Spell, ...]
    over_ns: float | None


def course_of(document: Mapping[str, Any]) -> Course | None:
    """The course of a load; ``None`` of one without intervals. Its last may be shorter: not in it.

    ``document`` is the result of the load as the engine wrote it.
    """
    written = document.get("series") or []
    if len(written) < 3:
        return None
    width_ns = (written[-1]["start_ns"] - written[0]["start_ns"]) / (len(written) - 1)
    rows = (
        Row(each["start_ns"] + width_ns / 2, each["ok"], each["errors"], each["max_ns"])
        for each in written[:-1]
    )
    return Course(tuple(rows), width_ns)


def figures_of(course: Course | None, event: Happened) -> dict[str, Measured]:
    """Every response of an event but the time that it took itself, by the end of its name."""
    if course is None:
        return _all_missing(_NO_GOOD_ANSWER)
    before = course.between(event.since_ns, event.began_ns)
    times_before = [row.max_ns for row in before if row.max_ns is not None]
    if not times_before:
        return _all_missing(_NO_GOOD_ANSWER)
    spells = list(_joined(_waits(course, before, event), course.width_ns))
    late_before = _share(spells, event.since_ns, event.began_ns)
    if late_before > _MOST_LATE_BEFORE:
        return _all_missing(LateBefore(share=late_before))
    dip = dip_of(spells, course, event)
    rate = _measured("rate", _rate_left(course, before, dip, event))
    if dip.over_ns is None:
        after_ms = (course.end_ns - event.began_ns) / _MS
        return _all_missing(NotRecovered(after_ms=after_ms), infinite=True) | {"rate": rate}
    seen = course.between(event.began_ns - course.width_ns, dip.over_ns + course.width_ns)
    worst_ns = max((row.max_ns for row in seen if row.max_ns is not None), default=None)
    if worst_ns is None:
        return _all_missing(_NO_GOOD_ANSWER)
    lasted_ns = sum(end - start for start, end in dip.spells)
    recovered_ns = dip.spells[-1][1] - event.began_ns if dip.spells else float(worst_ns)
    return {
        "worst_time": _measured("worst_time", float(worst_ns)),
        "slowdown": _measured("slowdown", worst_ns / median(times_before)),
        "duration": _measured("duration", max(lasted_ns, float(worst_ns))),
        "recovery": _measured("recovery", recovered_ns),
        "rate": rate,
    }


UNITS = {"worst_time": "ns", "slowdown": "", "rate": "ratio", "duration": "ns", "recovery": "ns"}


def _measured(figure: str, reading: Reading) -> Measured:
    if isinstance(reading, MissingKind):
        return Measured(value=None, unit=UNITS[figure], missing=reading)
    return Measured(value=reading, unit=UNITS[figure])


def _all_missing(why: Any, *, infinite: bool = False) -> dict[str, Measured]:
    return {
        figure: Measured(value=None, unit=unit, missing=why, infinite=infinite)
        for figure, unit in UNITS.items()
    }


def _share(spells: Sequence[Spell], start_ns: float, end_ns: float) -> float:
    """How much of a stretch of time they fill."""
    within = (max(0.0, min(b, end_ns) - max(a, start_ns)) for a, b in spells)
    return sum(within) / (end_ns - start_ns)


def dip_of(waits: Sequence[Spell], course: Course, event: Happened) -> Dip:
    """The spells of waiting from the start of the event until it was calm for long enough."""
    spells: list[Spell] = []
    calm_until_ns = event.ended_ns + event.calm_ns
    for start, end in waits:
        if end <= event.began_ns:
            continue
        if start > calm_until_ns:
            break
        spells.append((max(start, event.began_ns), end))
        calm_until_ns = max(calm_until_ns, end + event.calm_ns)
    over = calm_until_ns <= course.end_ns + course.width_ns
    return Dip(tuple(spells), calm_until_ns if over else None)


def _waits(course: Course, before: Sequence[Row], event: Happened) -> Iterator[Spell]:
    """When someone waited too long, or no one was served."""
    for row in course.rows:
        if _disturbed(row, event):
            late_ns = row.max_ns if row.max_ns is not None and row.max_ns > event.late_ns else 0
            yield row.middle_ns - late_ns, row.middle_ns
    usual = max((len(each) for each in _silences(before)), default=0)
    for silence in _silences(course.rows):
        if len(silence) > 2 * usual + 1:
            yield silence[0].middle_ns, silence[-1].middle_ns + course.width_ns


def _disturbed(row: Row, event: Happened) -> bool:
    return row.errors > 0 or (row.max_ns is not None and row.max_ns > event.late_ns)


def _silences(rows: Sequence[Row]) -> Iterator[list[Row]]:
    """Stretches of intervals without any answer."""
    for silent, stretch in groupby(rows, lambda row: not row.ok and not row.errors):
        if silent:
            yield list(stretch)


def _joined(spells: Iterator[Spell], width_ns: float) -> Iterator[Spell]:
    """Their union; what is one interval apart is one."""
    whole: Spell | None = None
    for start, end in sorted(spells):
        if whole is None or start > whole[1] + 1.5 * width_ns:
            if whole is not None:
                yield whole
            whole = (start, end)
        else:
            whole = (whole[0], max(whole[1], end))
    if whole is not None:
        yield whole


def _rate_left(course: Course, before: Sequence[Row], dip: Dip, event: Happened) -> Reading:
    """Of the intervals of the dip; without one, of those while the event lasted."""
    usual = mean(row.ok for row in before)
    lasted = (event.began_ns, max(event.ended_ns, event.began_ns + course.width_ns))
    spells = dip.spells or (lasted,)
    within = [row.ok for row in course.rows if any(a <= row.middle_ns <= b for a, b in spells)]
    if not usual or not within:
        return _NO_GOOD_ANSWER
    return median(within) / usual
