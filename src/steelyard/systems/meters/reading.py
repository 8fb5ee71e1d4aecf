"""What a meter told: one reading for each time that it was asked, and what a reading is worth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from steelyard.records.counters import Column, Counters

Problem = Literal["silent", "late", "unreadable", "negative", "other_unit", "stale"]
"""Why a reading has no value. One that is ``stale`` is of a moment that came before."""
MOST_SAID = 200


@dataclass(frozen=True)
class MeterReading:
    """One answer; moments are those of the controller's monotonic clock.

    ``value`` is in watts, or joules of a counter; ``moment`` is when the meter says that it
    measured, in its own words. ``said`` are the words of what cannot be used.
    """

    asked_ns: int
    answered_ns: int
    value: float | None = None
    moment: str | None = None
    problem: Problem | None = None
    said: str = ""

    @property
    def middle_ns(self) -> int:
        """The best guess of when it was measured."""
        return (self.asked_ns + self.answered_ns) // 2


@dataclass(frozen=True)
class MeterSeries:
    """All readings of one load. ``every_s`` is how often the meter was asked, or has a new reading
    at most, whichever is longer; ``step`` is its resolution, in watts or joules.
    """

    readings: tuple[MeterReading, ...]
    counts: bool
    step: float
    every_s: float

    def counters(self) -> Counters:
        """As it is stored; a reading that cannot be used has no value."""
        column = "meter.energy_uj" if self.counts else "meter.power_uw"
        values: Column = [
            None if each.value is None else round(each.value * 1e6) for each in self.readings
        ]
        return Counters(
            {
                "monotonic_ns": [each.asked_ns for each in self.readings],
                "read_ns": [each.answered_ns - each.asked_ns for each in self.readings],
                column: values,
                "controller_ns": [each.middle_ns for each in self.readings],
            }
        )


def without_repeated(readings: tuple[MeterReading, ...]) -> tuple[MeterReading, ...]:
    """The same, where a reading of a moment that came before is ``stale``."""
    last: str | None = None
    told = []
    for each in readings:
        if each.moment is not None and each.moment == last:
            told.append(
                MeterReading(
                    each.asked_ns,
                    each.answered_ns,
                    moment=each.moment,
                    problem="stale",
                    said=each.moment,
                )
            )
            continue
        last = each.moment or last
        told.append(each)
    return tuple(told)
