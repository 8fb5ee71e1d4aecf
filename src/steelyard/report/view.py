"""What a report reads of one workload, its findings and their run, and the tables it makes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from steelyard.judge.findings import AttemptFinding, RunFindings, WorkloadFindings
from steelyard.study.model import WORKLOAD

NO_GRAND_MEAN = (
    "Each workload is judged by itself and has its part of the error rate; no mean is taken over "
    "workloads, whose units have nothing in common."
)

NONE = "–"
"""A cell without a value."""


@dataclass(frozen=True)
class Table:
    """Text cells under headings; ``numeric`` holds the columns that are set to the right."""

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numeric: frozenset[int] = frozenset()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class View:
    """One workload of a run."""

    run: RunFindings
    own: WorkloadFindings

    @property
    def heading(self) -> str | None:
        """The name of the workload where the run has several; ``None`` of the only one."""
        return self.own.name if len(self.run.workloads) > 1 else None

    @property
    def attempts(self) -> tuple[AttemptFinding, ...]:
        """Every attempt at a trial of this workload."""
        name = self.own.name
        return tuple(a for a in self.run.attempts if a.cell.conditions.get(WORKLOAD, name) == name)

    def titled(self, text: str) -> str:
        """A heading, behind the name of the workload where there are several."""
        return text if self.heading is None else f"{self.heading}: {text}"

    def with_own(self, **changes: object) -> View:
        """The same with other findings of the workload."""
        return replace(self, own=self.own.model_copy(update=changes))


def views(run: RunFindings) -> tuple[View, ...]:
    """A view of each workload, in the order of the study."""
    return tuple(View(run, own) for own in run.workloads)


def lines(run: RunFindings, lines_of: Callable[[View], Iterable[str]]) -> list[str]:
    """The lines of every workload after its name; those that all have in common, once."""
    of_each = [(view, list(lines_of(view))) for view in views(run)]
    shared = [line for line in of_each[0][1] if all(line in own for _, own in of_each)]
    apart = [view.titled(line) for view, own in of_each for line in own if line not in shared]
    return [*shared, *apart]


def tables(run: RunFindings, table_of: Callable[[View], Table]) -> list[Table]:
    """One table for each workload that has rows of it, named after it where there are several."""
    found = ((view, table_of(view)) for view in views(run))
    return [
        replace(table, caption=view.titled(table.caption)) for view, table in found if table.rows
    ]
