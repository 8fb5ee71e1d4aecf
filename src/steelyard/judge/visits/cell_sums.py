"""Sums over the attempts of each cell, for what is read attempt by attempt and let go again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

from steelyard.judge.visits.attempts import place_of
from steelyard.judge.visits.workload_run import WorkloadRun
from steelyard.plan.model import Cell
from steelyard.records.attempt_folder import attempt_key
from steelyard.records.schema import Outcome, TrialRecord

_Sum = TypeVar("_Sum")


class Member(NamedTuple, Generic[_Sum]):
    """An attempt that counts, and the sum of its cell."""

    record: TrialRecord
    cell: _Sum


@dataclass(frozen=True)
class CellSums(Generic[_Sum]):
    """One sum for each cell of each workload, and by the key of an attempt that counts.

    A study may have more attempts than memory holds: what lies on disk for one of them is added
    to its cell before the next is read.
    """

    workloads: tuple[tuple[tuple[Cell, _Sum], ...], ...]
    by_attempt: Mapping[str, Member[_Sum]]


def cell_sums(parts: Sequence[WorkloadRun], new: Callable[[], _Sum]) -> CellSums[_Sum]:
    """An empty sum for each cell of each workload, in the order of its plan."""
    workloads, by_attempt = [], {}
    for part in parts:
        cells = tuple((cell, new()) for cell in part.plan.every_cell)
        sums = {place_of(cell): total for cell, total in cells}
        workloads.append(cells)
        for record in part.records:
            own = sums.get(place_of(record.cell))
            if own is not None and record.outcome is Outcome.OK:
                by_attempt[attempt_key(record.trial, record.attempt)] = Member(record, own)
    return CellSums(tuple(workloads), by_attempt)
