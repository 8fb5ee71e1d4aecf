"""What of a plan is still to be measured: neither answered nor eliminated nor given up."""

from __future__ import annotations

from dataclasses import dataclass, field

from steelyard.inference.spending import last_look
from steelyard.judge.kinds.caveats import SystemFutility
from steelyard.judge.stopping.elimination import (
    NO_SYSTEMS,
    Measured,
    all_futile,
    is_futile,
    is_measured,
    still_measured,
)
from steelyard.judge.stopping.stop import workload_futility
from steelyard.judge.visits.workload_run import WorkloadRun, workload_runs
from steelyard.plan.model import PlannedTrial, PlannedVisit
from steelyard.records.events import (
    SystemsEliminated,
    SystemStopped,
    WorkloadsEliminated,
    WorkloadStopped,
)
from steelyard.records.schema import TrialRecord
from steelyard.study.model import Level, ResponseSpec, Study
from steelyard.study.scenarios import workload_name
from steelyard.study.workload_study import study_of
from steelyard.trial.session_state.context import SessionContext
from steelyard.trial.session_state.futility import damage_of_kept, futility_of, with_trials
from steelyard.trial.session_state.interim_looks import InterimLooks
from steelyard.trial.session_state.progress import Progress
from steelyard.trial.session_state.watcher import Watcher


@dataclass
class Remaining:
    """What is still to be measured in one session.

    ``settled`` are visits that the judge has no further use for, ``answered`` conditions of which
    it has none, ``given_up`` systems that produce no valid trial, ``lost`` those that produce none
    of one of several workloads.
    """

    session: SessionContext
    progress: Progress
    looks: InterimLooks
    watcher: Watcher
    settled: frozenset[int] = frozenset()
    answered: tuple[dict[str, Level], ...] = ()
    given_up: frozenset[str] = NO_SYSTEMS
    lost: dict[str, frozenset[str]] = field(default_factory=dict)
    _measured: dict[int, Measured] = field(default_factory=dict)

    def is_needless(self, visit: PlannedVisit) -> bool:
        """Whether a visit can add nothing: its questions are answered, or its system was dropped.

        Left out of a visit are trials of a workload that was dropped, and those under a condition
        that is answered.
        """
        if visit.visit in self.settled:
            return True
        if visit.visit > len(self.session.plan.visits):
            return False
        study, still = self.session.study, self._still(visit.block)
        gone = [
            trial
            for trial in visit.trials
            if not is_measured(study, trial, still)
            or self._is_lost(trial)
            or trial.cell.conditions in self.answered
        ]
        if visit.system in self.given_up or len(gone) == len(visit.trials):
            return True
        self.progress.leave_out(gone)
        return False

    def _is_lost(self, trial: PlannedTrial) -> bool:
        workload = workload_name(self.session.study, trial.cell.conditions)
        return trial.cell.system in self.lost.get(workload, NO_SYSTEMS)

    def _still(self, block: int) -> Measured:
        """What is measured in a block, known when it begins (``judge/stopping/elimination.py``).

        As in the last block before it of which this was asked.
        """
        block = max(1, last_look(block))
        if block not in self._measured:
            session = self.session
            records = self.progress.records
            with session.interrupt.waiting():
                still = still_measured(
                    session.study,
                    session.plan,
                    records,
                    block,
                    self.given_up,
                    lost=self.lost,
                    effort=self.looks.effort,
                )
            self._record_eliminations(block, still)
            self._measured[block] = still
        return self._measured[block]

    def _record_eliminations(self, block: int, still: Measured) -> None:
        before = self._measured.get(last_look(block - 1))
        if len(still) == 1:
            if before is not None and still != before:
                (systems,) = still.values()
                remaining = tuple(sorted(systems))
                self.session.ledger.append(SystemsEliminated(block=block, remaining=remaining))
            return
        everyone = dict.fromkeys(still, frozenset(self.session.plan.systems) - self.given_up)
        if still != (before or everyone):
            measured = {name: tuple(sorted(systems)) for name, systems in still.items()}
            self.session.ledger.append(WorkloadsEliminated(block=block, remaining=measured))

    def give_up(self) -> bool:
        """Drops what produces no valid trial, with a ledger entry; whether nothing is left."""
        self._give_up_systems()
        self._give_up_workloads()
        return all_futile(self.session.study, self.session.plan, self.given_up, self.lost)

    def _give_up_systems(self) -> None:
        session = self.session
        failed = futility_of(self.progress, session.plan, lambda r: _primary(session.study, r))
        failed |= damage_of_kept(session.damaged)
        for system in [
            name for name in session.plan.systems if name in failed.keys() - self.given_up
        ]:
            session.ledger.append(SystemStopped(system=system, reason=failed[system]))
            self.watcher.gives_up(SystemFutility(system=system, reason=failed[system]))
        self.given_up |= failed.keys()

    def _give_up_workloads(self) -> None:
        """Drops workloads that produce no valid trial, by the rules of systems."""
        session = self.session
        runs = workload_runs(session.study, session.plan, self.progress.records)
        if len(runs) == 1 or all_futile(session.study, session.plan, self.given_up):
            return
        for one in runs:
            self._give_up_workload(one)

    def _give_up_workload(self, one: WorkloadRun) -> None:
        session, name = self.session, one.name
        before = self.lost.get(name, NO_SYSTEMS)
        progress = Progress(session.study.trials.retry, one.records, self.progress.forgiven)
        failed = futility_of(progress, with_trials(one.plan), lambda _: one.study.primary)
        new = {s: why for s, why in failed.items() if s not in before | self.given_up}
        if not new:
            return
        gone = before | new.keys()
        if is_futile(one, self.given_up | gone):
            gone = frozenset(session.plan.systems)
        done = max(visit.visit for visit in self.progress.visits_done(session.plan))
        stopped = WorkloadStopped(
            workload=name, reasons=new, stopped_on=tuple(sorted(gone)), visit=done
        )
        session.ledger.append(stopped)
        self.watcher.gives_up(workload_futility(stopped))
        self.lost[name] = gone


def _primary(study: Study, record: TrialRecord) -> ResponseSpec:
    return study_of(study, record.cell.conditions).primary
