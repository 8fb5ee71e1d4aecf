"""What a measured value becomes before it is judged, and why some become nothing."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal

from steelyard.records.schema import Measured, TrialRecord

Scale = Literal["log", "plain", "odds"]
"""The natural logarithm, the value itself, or the logarithm of the odds of a share."""


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

    Half of a typical trial's operations, not of this one's: else a trial without failures would
    seem to fail less the more operations it has, and a faster system less than a slower one.
    """
    if measured is None or measured.value is None or not measured.of or not half:
        return None
    return math.log((measured.value + half) / (1 - measured.value + half))


SCALES: dict[Scale, Callable[[Measured | None], float | None]] = {
    "log": _log_of,
    "plain": _plain,
}


def why_no_number(record: TrialRecord, response: str, value: float | None) -> str:
    if value is not None:
        return "is zero" if value == 0 else "is negative or not finite"
    measured = record.responses.get(response)
    reason = measured.missing if measured is not None else None
    return f"was not measured ({reason})" if reason else "was not measured"


def problem(system: str, why: str, count: int) -> str:
    noun = "trial" if count == 1 else "trials"
    return f"no ratio is defined: the value {why} in {count} {noun} of {system}"
