"""Energy over a window from what a meter told, with a bound of its error. Pure.

Of power, the area below the straight lines between readings; of a counter, its growth. The bound
holds for any power that rises or falls between two readings without turning back, for readings
that are up to one period of the meter old, and for the steps in which it counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from steelyard.records.missing import (
    MeterFell,
    MeterKind,
    MeterTooCoarse,
    MeterUnusable,
    Missing,
    MissingKind,
    Reading,
    TooFewSamples,
)
from steelyard.records.warnings import TrialWarning, WarningKind
from steelyard.systems.meters import MeterReading, MeterSeries

FEWEST = {True: 2, False: 4}
"""Readings in the window: of a counter, and of power."""
LONGEST_GAP = 3.5
"""Periods between two usable readings; a line over more of them is no measurement."""
COARSEST = 0.2
"""A figure that may be off by more of itself is none."""
_NS = 1e9
_KINDS: dict[str, MeterKind] = {
    "silent": "meter_silent",
    "late": "meter_late",
    "unreadable": "meter_unreadable",
    "negative": "meter_negative",
    "other_unit": "meter_other_unit",
    "stale": "meter_stale",
}


@dataclass(frozen=True)
class Metered:
    """Energy over a window, right within ``within_j`` of it as far as the meter is."""

    energy_j: float
    within_j: float
    length_s: float

    @property
    def mean_w(self) -> float:
        """Mean power."""
        return self.energy_j / self.length_s


def metered(series: MeterSeries, start_ns: int, end_ns: int) -> Metered | Missing:
    """What the meter says of a window, by the controller's clock, or why it says nothing."""
    good = [each for each in series.readings if each.value is not None]
    around = _around(good, start_ns)
    missing = _gap(series, around, start_ns, end_ns)
    if missing is not None:
        return missing
    inside = sum(start_ns <= each.middle_ns <= end_ns for each in around)
    needed = FEWEST[series.counts]
    if inside < needed:
        return TooFewSamples(samples=inside, needed=needed)
    if series.counts:
        fell = _fallen(around)
        if fell is not None:
            return fell
    told = (_counted if series.counts else _integrated)(series, around, start_ns, end_ns)
    if told.energy_j * COARSEST <= told.within_j:
        return MeterTooCoarse(energy_j=told.energy_j, within_j=told.within_j)
    return told


def energy_of(told: Metered | Missing) -> Reading:
    """Joules over the whole window."""
    return told if isinstance(told, MissingKind) else told.energy_j


def mean_of(told: Metered | Missing) -> Reading:
    """Watts over the window."""
    return told if isinstance(told, MissingKind) else told.mean_w


def within_of(name: str, told: Metered | Missing | None) -> float | None:
    """By how much what a meter told of a response may be off; ``None`` of all other responses."""
    if not isinstance(told, Metered):
        return None
    bounds = {"power.energy": told.within_j, "power.mean": told.within_j / told.length_s}
    return bounds.get(name)


def meter_warnings(
    series: MeterSeries, told: Metered | Missing, span_ns: tuple[int, int], margin: float
) -> list[TrialWarning]:
    """Readings that could not be used, and a bound beyond the margin of the study."""
    if isinstance(told, MissingKind):
        return []
    found: list[TrialWarning] = []
    start_ns, end_ns = span_ns
    seen = [each for each in series.readings if start_ns <= each.middle_ns <= end_ns]
    bad = [each for each in seen if each.problem not in (None, "stale")]
    if bad:
        figures = {"lost": len(bad), "readings": len(seen), "said": bad[0].said}
        found.append(TrialWarning(kind=WarningKind.METER_READINGS_LOST, figures=figures))
    share = told.within_j / told.energy_j
    if share > margin:
        coarse = {"share": share, "margin": margin}
        found.append(TrialWarning(kind=WarningKind.METER_COARSE, figures=coarse))
    return found


def _around(good: Sequence[MeterReading], start_ns: int) -> list[MeterReading]:
    """The usable readings of the window, with the last before it and those after it."""
    before = [each for each in good if each.middle_ns <= start_ns]
    return [*before[-1:], *(each for each in good if each.middle_ns > start_ns)]


def _gap(
    series: MeterSeries, around: Sequence[MeterReading], start_ns: int, end_ns: int
) -> Missing | None:
    """The longest time without a usable reading, if it is too long; also at the edges."""
    low, high = _longest(around, start_ns, end_ns)
    covered = bool(around) and around[0].middle_ns <= start_ns and around[-1].middle_ns >= end_ns
    if covered and high - low <= LONGEST_GAP * series.every_s * _NS:
        return None
    until = high + LONGEST_GAP * series.every_s * _NS
    bad = [each for each in series.readings if each.problem and low <= each.middle_ns <= until]
    kinds = Counter(each.problem for each in bad)
    problem = kinds.most_common(1)[0][0] if kinds else None
    said = next((each.said for each in bad if each.problem == problem), "")
    return MeterUnusable(
        kind="meter_late" if problem is None else _KINDS[problem],
        gap_s=(high - low) / _NS,
        said=said,
    )


def _longest(around: Sequence[MeterReading], start_ns: int, end_ns: int) -> tuple[int, int]:
    """Of an edge that no reading lies beyond, from there; else between two readings."""
    moments = [each.middle_ns for each in around]
    if not moments:
        return start_ns, end_ns
    if moments[0] > start_ns:
        return start_ns, moments[0]
    if moments[-1] < end_ns:
        return moments[-1], end_ns
    pairs = [pair for pair in pairwise(moments) if pair[0] < end_ns]
    return max(pairs, key=lambda pair: pair[1] - pair[0])


def _fallen(around: Sequence[MeterReading]) -> Missing | None:
    for one, next_one in pairwise(around):
        if _value(next_one) < _value(one):
            return MeterFell(before_j=_value(one), after_j=_value(next_one))
    return None


def _value(reading: MeterReading) -> float:
    return reading.value or 0.0


def _at(around: Sequence[MeterReading], moment_ns: int) -> float:
    """On the line between the readings before and after a moment that they cover."""
    for one, next_one in pairwise(around):
        if one.middle_ns <= moment_ns <= next_one.middle_ns:
            span_ns = max(next_one.middle_ns - one.middle_ns, 1)
            share = (moment_ns - one.middle_ns) / span_ns
            return _value(one) + share * (_value(next_one) - _value(one))
    return _value(around[-1])


def _integrated(
    series: MeterSeries, around: Sequence[MeterReading], start_ns: int, end_ns: int
) -> Metered:
    length_s = (end_ns - start_ns) / _NS
    moments = [each.middle_ns for each in around if start_ns < each.middle_ns < end_ns]
    points = [(at_ns / _NS, _at(around, at_ns)) for at_ns in (start_ns, *moments, end_ns)]
    area = sum((t2 - t1) * (p1 + p2) / 2 for (t1, p1), (t2, p2) in pairwise(points))
    steps = [
        (abs(_value(two) - _value(one)), (two.answered_ns - one.asked_ns) / _NS)
        for one, two in pairwise(around)
        if one.middle_ns < end_ns
    ]
    between = sum(change_w * apart_s for change_w, apart_s in steps) / 2
    within = between + _aged(series, around, end_ns) + length_s * series.step / 2
    return Metered(area, within, length_s)


def _aged(series: MeterSeries, around: Sequence[MeterReading], end_ns: int) -> float:
    """Of readings that all are one period old: what enters at the start, less what leaves at the
    end.
    """
    late_ns = end_ns + series.every_s * _NS
    inside = [_value(each) for each in around if each.middle_ns <= end_ns]
    after = [_value(each) for each in around if end_ns < each.middle_ns <= late_ns]
    beyond = [_value(each) for each in around if each.middle_ns > late_ns]
    ends = [inside[-1], *after, *beyond[:1]]
    return series.every_s * max(abs(one - two) for one in inside[:3] for two in ends)


def _counted(
    series: MeterSeries, around: Sequence[MeterReading], start_ns: int, end_ns: int
) -> Metered:
    energy = _at(around, end_ns) - _at(around, start_ns)
    low_start, high_start = _count_within(series, around, start_ns)
    low_end, high_end = _count_within(series, around, end_ns)
    most, least = high_end - low_start, low_end - high_start
    within = max(most - energy, energy - least)
    return Metered(energy, within, (end_ns - start_ns) / _NS)


def _count_within(
    series: MeterSeries, around: Sequence[MeterReading], moment_ns: int
) -> tuple[float, float]:
    """The least and the most that had been counted at a moment: what was shown before it, and what
    was shown when the meter must have noticed it.
    """
    late_ns = moment_ns + series.every_s * _NS
    before = [_value(each) for each in around if each.answered_ns <= moment_ns]
    after = [_value(each) for each in around if each.asked_ns >= late_ns]
    low = before[-1] if before else _value(around[0])
    high = after[0] if after else _value(around[-1])
    return low, high + series.step
