"""Every cell's values and their median; every attempt as a row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median

from steelyard.inference.probability.distributions import binomial_quantile
from steelyard.judge.findings import (
    AttemptFinding,
    BottleneckNote,
    CellFinding,
    UsedUpFinding,
    WarningNote,
)
from steelyard.judge.kinds.not_measured import not_measured
from steelyard.judge.visits.attempts import place_of
from steelyard.plan.model import Cell, Plan
from steelyard.records.schema import Outcome, TrialRecord
from steelyard.study.workload_study import WorkloadStudy

INTERVAL_LEVEL = 0.95
FEWEST_VALUES = 6

_RESET_PHASES = (
    "restore",
    "attach_disks",
    "configure",
    "start_service",
    "drop_caches",
    "check_disks",
    "undo",
)
_USEFUL_PHASES = (*_RESET_PHASES, "run_reference_kernel", "warmup", "window")
_NS_PER_S = 1e9


def cell_findings(
    study: WorkloadStudy, plan: Plan, records: Sequence[TrialRecord]
) -> Iterator[CellFinding]:
    """One finding per response, condition and system, in the order of the study."""
    by_cell: dict[object, list[TrialRecord]] = {}
    for record in sorted(records, key=lambda r: (r.started_unix_ns, r.trial, r.attempt)):
        by_cell.setdefault(place_of(record.cell), []).append(record)
    for response in study.responses:
        for cell in plan.every_cell:
            found = by_cell.get(place_of(cell), [])
            yield _cell_finding(cell, response, found)


def _cell_finding(cell: Cell, response: str, records: Sequence[TrialRecord]) -> CellFinding:
    good = [record for record in records if record.outcome is Outcome.OK]
    known = [(r.trial, value) for r in good if (value := r.value(response)) is not None]
    values = tuple(value for _, value in known)
    low, high = median_interval(values)
    return CellFinding(
        cell=cell,
        response=response,
        values=values,
        trials=tuple(trial for trial, _ in known),
        median=median(values) if values else None,
        low=low,
        high=high,
        interval_level=INTERVAL_LEVEL,
        beyond=sum(is_beyond(record, response) for record in good),
        not_measured=not_measured(records, response),
    )


def is_beyond(record: TrialRecord, response: str) -> bool:
    """Whether a value lies beyond all others, and so is none."""
    measured = record.responses.get(response)
    return measured is not None and measured.infinite


def median_interval(values: Sequence[float]) -> tuple[float | None, float | None]:
    """Two of the values that hold the median with at least 95 %, whatever the distribution.

    The k-th smallest and k-th largest, k from the binomial law with p = 1/2; independent values
    are assumed. ``None`` below six, where even the extremes do not reach 95 %.
    """
    count = len(values)
    if count < FEWEST_VALUES:
        return None, None
    outside = binomial_quantile((1 - INTERVAL_LEVEL) / 2, count)
    ranked = sorted(values)
    return ranked[outside - 1], ranked[count - outside]


def attempt_findings(records: Sequence[TrialRecord]) -> Iterator[AttemptFinding]:
    """Every attempt, in the order it was made."""
    for record in sorted(records, key=lambda r: (r.started_unix_ns, r.trial, r.attempt)):
        failure = record.failure
        yield AttemptFinding(
            trial=record.trial,
            attempt=record.attempt,
            visit=record.visit,
            cell=record.cell,
            outcome=record.outcome.value,
            message=failure.message if failure else None,
            hint=failure.hint if failure else None,
            failed_operations=record.failed_operations,
            warnings=tuple(WarningNote(**dict(each)) for each in record.warnings),
            bottleneck=_bottleneck(record),
            wall_s=(record.finished_unix_ns - record.started_unix_ns) / _NS_PER_S,
            overhead_s=_overhead_s(record),
        )


def _bottleneck(record: TrialRecord) -> BottleneckNote | None:
    found = record.bottleneck
    if found is None:
        return None
    also = tuple(UsedUpFinding(kind=each.resource, share=each.share) for each in found.also)
    return BottleneckNote(kind=found.resource, share=found.share, also=also)


def _overhead_s(record: TrialRecord) -> float | None:
    """Wall time outside reset, warm-up and window; ``None`` unless the window was measured."""
    if "window" not in record.phases_ns:
        return None
    useful = sum(record.phases_ns.get(phase, 0) for phase in _USEFUL_PHASES)
    wall = record.finished_unix_ns - record.started_unix_ns
    return max(0, wall - useful) / _NS_PER_S
