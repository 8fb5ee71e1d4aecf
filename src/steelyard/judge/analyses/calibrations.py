"""How close the trials of each cell came to what the generator can do at most."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median

from steelyard.judge.findings import CalibrationFinding
from steelyard.judge.visits.attempts import key_of
from steelyard.judge.visits.calibrations import Identity, disproved_by, exceeded, identity_of
from steelyard.plan.model import Cell, Plan
from steelyard.records.missing import Missing
from steelyard.records.schema import Calibration, Outcome, TrialRecord
from steelyard.records.warnings import WarningKind
from steelyard.study.workload_study import WorkloadStudy


def calibration_findings(
    study: WorkloadStudy, plan: Plan, records: Sequence[TrialRecord]
) -> Iterator[CalibrationFinding]:
    """One for each cell with a good trial; none for runs that were recorded before there were any.

    A run of several sessions has several capacities; their median is given.
    """
    by_cell: dict[object, list[TrialRecord]] = {}
    disproved = disproved_by(records)
    for record in records:
        if record.outcome is Outcome.OK and record.calibration is not None:
            key = (record.cell.system, key_of(record.cell.conditions))
            by_cell.setdefault(key, []).append(record)
    for cell in plan.every_cell:
        found = by_cell.get((cell.system, key_of(cell.conditions)))
        if found:
            yield _finding(study, cell, found, disproved)


def _finding(
    study: WorkloadStudy,
    cell: Cell,
    records: Sequence[TrialRecord],
    disproved: set[Identity | None],
) -> CalibrationFinding:
    known = [r.calibration for r in records if r.calibration is not None]
    ratios = [each.ratio for each in known if each.ratio is not None]
    return CalibrationFinding(
        cell=cell,
        sink=next((each.sink for each in known if each.sink), None),
        unit=f"{study.workload.operation}/s",
        capacity_per_s=_median([c.capacity_per_s for c in known]),
        baseline_latency_ns=_median([c.baseline_latency_ns for c in known]),
        ratio=median(ratios) if ratios else None,
        largest_ratio=max(ratios, default=None),
        trials=len(records),
        trials_near=sum(
            any(each.kind is WarningKind.GENERATOR_NEAR_CAPACITY for each in r.warnings)
            for r in records
        ),
        trials_exceeded=len(exceeded(records)),
        disproved=any(identity_of(each) in disproved for each in known),
        not_calibrated=_reason(known),
    )


def _reason(known: Sequence[Calibration]) -> Missing | None:
    if any(each.capacity_per_s is not None for each in known):
        return None
    return next((each.not_calibrated for each in known if each.not_calibrated), None)


def _median(values: Sequence[float | None]) -> float | None:
    told = [value for value in values if value is not None]
    return median(told) if told else None
