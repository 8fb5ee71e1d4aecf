"""The scale on which a measured value is judged, and why some values cannot be."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal, NamedTuple

from steelyard.judge.kinds.verdict_notes import ValueUnusable
from steelyard.judge.visits.pairs import Scale
from steelyard.records.missing import Missing
from steelyard.records.schema import Measured, TrialRecord


def _log_of(measured: Measured | None) -> float | None:
    """The logarithm; infinite where the value lies beyond all others."""
    if measured is not None and measured.infinite:
        return math.inf
    value = None if measured is None else measured.value
    return math.log(value) if value is not None and math.isfinite(value) and value > 0 else None


def _plain(measured: Measured | None) -> float | None:
    value = None if measured is None else measured.value
    return value if value is not None and math.isfinite(value) else None


def odds(measured: Measured | None, half: float) -> float | None:
    """The logarithm of the odds of a share, with half an operation added on both sides.

    ``half`` is of the operations of a median trial, not of this one: otherwise a trial without
    failures would seem to fail less the more operations it has, and a faster system less than a
    slower one.
    """
    if measured is None or measured.value is None or not measured.of or not half:
        return None
    return math.log((measured.value + half) / (1 - measured.value + half))


SCALES: dict[Scale, Callable[[Measured | None], float | None]] = {
    "log": _log_of,
    "plain": _plain,
}


class Unusable(NamedTuple):
    """Why a trial of ``system`` has no number; ``reason`` is that of its record."""

    system: str
    value: Literal["zero", "negative_or_not_finite", "missing"]
    reason: Missing | None = None

    def note(self, trials: int) -> ValueUnusable:
        return ValueUnusable(
            system=self.system, trials=trials, value=self.value, reason=self.reason
        )


def unusable(record: TrialRecord, response: str) -> Unusable:
    """Why a trial without a number has none."""
    system, value = record.cell.system, record.value(response)
    if value is not None:
        return Unusable(system, "zero" if value == 0 else "negative_or_not_finite")
    measured = record.responses.get(response)
    return Unusable(system, "missing", measured.missing if measured is not None else None)
