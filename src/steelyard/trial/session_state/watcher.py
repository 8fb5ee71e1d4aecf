"""The events of a session, for a live display; it never owns the loop."""

from __future__ import annotations

from typing import Protocol

from steelyard.hosts.undo.log import PendingUndo
from steelyard.judge.analyses.planning.findings import ResolutionFinding
from steelyard.judge.kinds.caveats import SystemFutility, WorkloadFutility
from steelyard.judge.stopping.interim import Look
from steelyard.plan.model import Plan, PlannedTrial
from steelyard.records.events import Event
from steelyard.records.schema import TrialRecord


class Watcher(Protocol):
    """Called in the order of events, from the thread of the session."""

    def recorded(self, event: Event) -> None:
        """An event is in the ledger, on stable storage."""

    def undo_earlier(self, undone: list[PendingUndo]) -> None:
        """Changes that an earlier session had left were undone."""

    def waits(self, why: str) -> None:
        """A machine is used by another session, whose end is waited for."""

    def starts(self, plan: Plan, trials_done: int) -> None:
        """The session starts."""

    def calibrating(self) -> None:
        """What the generator can do at most is measured."""

    def noise_measured(self, found: list[ResolutionFinding]) -> None:
        """The machines were looked at before the first trial: what a margin costs on them."""

    def attempt_starts(self, trial: PlannedTrial, attempt: int) -> None: ...

    def attempt_ends(self, record: TrialRecord) -> None: ...

    def looked(self, look: Look, visits_done: int) -> None:
        """A visit is complete and the judge was asked."""

    def gives_up(self, reason: SystemFutility | WorkloadFutility) -> None:
        """A system or a workload of several is stopped for futility."""

    def undoing(self) -> None:
        """The session ends; the machine is being restored."""


class Silence:
    """A watcher that watches nothing."""

    def recorded(self, event: Event) -> None: ...

    def undo_earlier(self, undone: list[PendingUndo]) -> None: ...

    def waits(self, why: str) -> None: ...

    def starts(self, plan: Plan, trials_done: int) -> None: ...

    def calibrating(self) -> None: ...

    def noise_measured(self, found: list[ResolutionFinding]) -> None: ...

    def attempt_starts(self, trial: PlannedTrial, attempt: int) -> None: ...

    def attempt_ends(self, record: TrialRecord) -> None: ...

    def looked(self, look: Look, visits_done: int) -> None: ...

    def gives_up(self, reason: SystemFutility | WorkloadFutility) -> None: ...

    def undoing(self) -> None: ...
