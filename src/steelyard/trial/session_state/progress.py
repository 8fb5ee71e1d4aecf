"""Where a run stands: which trials are finished, which failed for good.

Pure, from the records and the ledger alone: a resumed run and one that never stopped see the
same.
"""

from __future__ import annotations

from collections.abc import Iterable

from steelyard.plan.model import Plan, PlannedTrial, PlannedVisit
from steelyard.records.events import AttemptStarted, Event, StoppedRetried
from steelyard.records.schema import Outcome, TrialRecord
from steelyard.trial.attempt.outcomes import NOT_AN_ATTEMPT, RETRY_HELPS
from steelyard.trial.session_state.repetition import Repetition

Attempt = tuple[int, int]
"""Number of a trial, and of the attempt at it."""


class Progress:
    """The records of a run so far, by trial; attempts that are ``forgiven`` count as not made."""

    def __init__(
        self,
        retry: int,
        records: Iterable[TrialRecord] = (),
        forgiven: frozenset[Attempt] = frozenset(),
    ) -> None:
        self.retry = retry
        self.forgiven = forgiven
        self.records: list[TrialRecord] = []
        self._by_trial: dict[int, list[TrialRecord]] = {}
        self._left_out: set[int] = set()
        self.damaged: dict[str, TrialRecord] = {}
        """The first attempt that found the disks of a system damaged, by system."""
        self.repetition = Repetition()
        for record in records:
            self.add(record)

    def add(self, record: TrialRecord) -> None:
        """One more attempt."""
        self.records.append(record)
        self._by_trial.setdefault(record.trial, []).append(record)
        if record.outcome is Outcome.OK or self.counts(record):
            self.repetition.add(record)
        if record.outcome is Outcome.DAMAGED and self.counts(record):
            self.damaged.setdefault(record.cell.system, record)

    def counts(self, record: TrialRecord) -> bool:
        """Whether it was a try of its own that may be held against a trial or a system."""
        made = (record.trial, record.attempt)
        return record.outcome not in NOT_AN_ATTEMPT and made not in self.forgiven

    def leave_out(self, trials: Iterable[PlannedTrial]) -> None:
        """Trials of a visit that are not to be measured: nothing is asked of them any more."""
        self._left_out.update(trial.trial for trial in trials)

    def of(self, trial: PlannedTrial) -> list[TrialRecord]:
        return self._by_trial.get(trial.trial, [])

    def next_attempt(self, trial: PlannedTrial) -> int:
        return max((record.attempt for record in self.of(trial)), default=0) + 1

    def measured(self, trial: PlannedTrial) -> bool:
        return any(record.outcome is Outcome.OK for record in self.of(trial))

    def given_up(self, trial: PlannedTrial) -> bool:
        """No attempt was good, and another would not help or is not allowed."""
        tries = [record for record in self.of(trial) if self.counts(record)]
        if not tries or self.measured(trial):
            return False
        if len(tries) > self.retry or tries[-1].outcome not in RETRY_HELPS:
            return True
        return tries[-1] in self.repetition.of(trial.cell.system)

    def finished(self, trial: PlannedTrial) -> bool:
        """Nothing more is to be done for it."""
        done = self.measured(trial) or self.given_up(trial)
        return done or trial.trial in self._left_out or trial.cell.system in self.damaged

    def visit_finished(self, visit: PlannedVisit) -> bool:
        """Nothing more is to be done in it; so it is of one that was begun before the last."""
        begun = any(self.of(trial) for trial in visit.trials)
        return all(self.finished(trial) for trial in visit.trials) or (
            begun and visit.visit < self._last_begun()
        )

    def is_forgiven(self, visit: PlannedVisit) -> bool:
        """Whether all that was tried in a visit is."""
        tried = [record for trial in visit.trials for record in self.of(trial)]
        return bool(tried) and all((r.trial, r.attempt) in self.forgiven for r in tried)

    def _last_begun(self) -> int:
        return max((record.visit for record in self.records), default=0)

    def visits_done(self, plan: Plan) -> list[PlannedVisit]:
        return [visit for visit in plan.every_visit if self.visit_finished(visit)]

    def block(self, plan: Plan) -> int:
        """The block of the last visit that was begun; the first without any."""
        last = self._last_begun()
        return max((visit.block for visit in plan.visits if visit.visit <= last), default=1)

    def trials_measured(self, plan: Plan) -> int:
        """Trials of the plan with a good attempt."""
        return sum(self.measured(trial) for visit in plan.every_visit for trial in visit.trials)


def forgiven_attempts(
    events: Iterable[Event], records: Iterable[TrialRecord]
) -> frozenset[Attempt]:
    """Of earlier sessions: those that failed on systems which the user asked to measure again, and
    those whose changes could not be undone, since they have been when a session measures.
    """
    records = list(records)
    failed = {
        (record.trial, record.attempt): record.cell.system
        for record in records
        if record.outcome is not Outcome.OK
    }
    begun: list[Attempt] = []
    forgiven = {(r.trial, r.attempt) for r in records if r.outcome is Outcome.UNDO_FAILED}
    for event in events:
        if isinstance(event, AttemptStarted):
            begun.append((event.trial, event.attempt))
        elif isinstance(event, StoppedRetried):
            forgiven.update(each for each in begun if failed.get(each) in event.systems)
    return frozenset(forgiven)


def torn_attempts(events: Iterable[Event], records: Iterable[TrialRecord]) -> list[AttemptStarted]:
    """Attempts without a record: the controller died during them."""
    recorded = {(record.trial, record.attempt) for record in records}
    return [
        event
        for event in events
        if isinstance(event, AttemptStarted) and (event.trial, event.attempt) not in recorded
    ]
