"""Calibrations of the generator that a trial has disproved, and trials without their warnings."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.records.schema import Calibration, Outcome, TrialRecord
from steelyard.records.warnings import TrialWarning, WarningKind

Identity = tuple[str | None, float | None]


def exceeded(records: Sequence[TrialRecord]) -> list[TrialRecord]:
    """Good trials that reached more than the capacity of their calibration."""
    return [
        record
        for record in records
        if record.outcome is Outcome.OK
        and record.calibration is not None
        and record.calibration.is_exceeded
    ]


def without_unfounded_warnings(records: Sequence[TrialRecord]) -> Sequence[TrialRecord]:
    """The records, none of which is near a capacity that any trial of that calibration exceeded.

    Cells of one shape share a calibration, so one trial disproves it for all of them.
    """
    disproved = disproved_by(records)
    if not disproved:
        return records
    return [
        record.model_copy(update={"warnings": tuple(filter(_is_founded, record.warnings))})
        if identity_of(record.calibration) in disproved
        else record
        for record in records
    ]


def disproved_by(records: Sequence[TrialRecord]) -> set[Identity | None]:
    """The calibrations of which some trial exceeded the capacity."""
    return {identity_of(record.calibration) for record in exceeded(records)}


def identity_of(calibration: Calibration | None) -> Identity | None:
    """What the calibration of one trial has in common with those that share it."""
    return None if calibration is None else (calibration.sink, calibration.capacity_per_s)


def _is_founded(warning: TrialWarning) -> bool:
    return warning.kind is not WarningKind.GENERATOR_NEAR_CAPACITY
