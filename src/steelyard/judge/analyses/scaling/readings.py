"""Which factor is a load, which response its throughput, and the table of each curve."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from steelyard.judge.analyses.scaling.findings import (
    DroppedLevel,
    GateRefusedLevel,
    LevelNotMeasured,
)
from steelyard.judge.analyses.scaling.table import Table
from steelyard.judge.visits.attempts import key_of
from steelyard.judge.visits.pairs import Conditions
from steelyard.plan.model import Plan
from steelyard.records.schema import Outcome, TrialRecord
from steelyard.records.warnings import WarningKind
from steelyard.study.model import ResponseSpec
from steelyard.study.workload_study import WorkloadStudy

FEWEST_LEVELS = 3
_LOADS = ("users", "rate", "threads", "connections", "streams", "flows", "instances")


@dataclass(frozen=True)
class Axis:
    """The factor that loads the systems, and what is delivered for it.

    ``others`` are the combinations of all other factors; each has curves of its own.
    """

    factor: str
    levels: tuple[float, ...]
    others: tuple[Conditions, ...]
    response: ResponseSpec


@dataclass(frozen=True)
class Course:
    """One system over the levels. ``table`` is ``None`` without a single number.

    ``dropped`` are the levels that are left out; ``broken`` holds the levels where most
    trials break Little's law, as the generator says.
    """

    system: str
    conditions: Conditions
    table: Table | None
    dropped: tuple[DroppedLevel, ...]
    broken: tuple[float, ...]


def axis_of(study: WorkloadStudy, plan: Plan) -> Axis | None:
    """The load of a study that varies it: users before rate, threads and others."""
    response = throughput_of(study)
    found = [name for name in study.factors if name.rpartition(".")[2] in _LOADS]
    for factor in sorted(found, key=lambda name: _LOADS.index(name.rpartition(".")[2])):
        levels = study.factors[factor]
        if response is not None and len(levels) >= FEWEST_LEVELS and all(map(_counts, levels)):
            others = {
                key_of(rest): rest
                for each in plan.conditions
                if (rest := {k: v for k, v in each.items() if k != factor}) is not None
            }
            numbers = tuple(sorted(float(level) for level in levels))
            return Axis(factor, numbers, tuple(others.values()), response)
    return None


def throughput_of(study: WorkloadStudy) -> ResponseSpec | None:
    """The response in so many a second of which more is better; the primary one if it is such."""
    ranked = sorted(study.responses.values(), key=lambda spec: not spec.primary)
    for spec in ranked:
        if spec.direction == "higher" and spec.unit.endswith("/s"):
            return spec
    return None


def courses(axis: Axis, plan: Plan, records: Sequence[TrialRecord]) -> Iterator[Course]:
    """One for each system and further condition, in the order of the plan."""
    cells: dict[object, list[TrialRecord]] = defaultdict(list)
    for record in records:
        rest = {k: v for k, v in record.cell.conditions.items() if k != axis.factor}
        if axis.factor in record.cell.conditions:
            cells[record.cell.system, key_of(rest)].append(record)
    for other in axis.others:
        for system in plan.systems:
            yield _course(axis, system, other, cells[system, key_of(other)])


def _course(
    axis: Axis, system: str, conditions: Conditions, records: Sequence[TrialRecord]
) -> Course:
    by_level: dict[float, list[TrialRecord]] = {level: [] for level in axis.levels}
    for record in records:
        by_level[float(record.cell.conditions[axis.factor])].append(record)
    dropped = {
        level: why
        for level, of in by_level.items()
        if (why := _dropped(level, of, axis)) is not None
    }
    kept = [level for level in axis.levels if level not in dropped]
    return Course(
        system=system,
        conditions=conditions,
        table=_table(kept, by_level, axis),
        dropped=tuple(dropped.values()),
        broken=tuple(level for level in kept if _breaks_the_law(by_level[level])),
    )


def _dropped(level: float, records: Sequence[TrialRecord], axis: Axis) -> DroppedLevel | None:
    """Why a level does not count: operations that failed are no throughput."""
    refused = [record for record in records if record.outcome is Outcome.REFUSED_BY_GATE]
    if refused:
        failure = refused[0].failure
        return GateRefusedLevel(
            level=level,
            refused=len(refused),
            attempts=len(records),
            message=None if failure is None else failure.message,
        )
    if not any(_log(record, axis) is not None for record in records):
        return LevelNotMeasured(level=level)
    return None


def _table(
    kept: Sequence[float], by_level: dict[float, list[TrialRecord]], axis: Axis
) -> Table | None:
    visits = sorted(
        {r.visit for level in kept for r in by_level[level] if _log(r, axis) is not None}
    )
    if not visits:
        return None
    logs = np.full((len(visits), len(kept)), np.nan)
    rows = {visit: row for row, visit in enumerate(visits)}
    for column, level in enumerate(kept):
        for record in by_level[level]:
            log = _log(record, axis)
            if log is not None:
                logs[rows[record.visit], column] = log
    return Table(np.array(kept), logs)


def _log(record: TrialRecord, axis: Axis) -> float | None:
    value = record.value(axis.response.name) if record.outcome is Outcome.OK else None
    return math.log(value) if value is not None and math.isfinite(value) and value > 0 else None


def _breaks_the_law(records: Sequence[TrialRecord]) -> bool:
    good = [record for record in records if record.outcome is Outcome.OK]
    broken = [r for r in good if any(each.kind is WarningKind.LITTLES_LAW for each in r.warnings)]
    return 2 * len(broken) > len(good)


def _counts(level: object) -> bool:
    return isinstance(level, int | float) and not isinstance(level, bool) and level > 0
