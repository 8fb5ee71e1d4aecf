"""Goes through a plan until the verdict holds, the budget ends, or the user stops it.

The only way back from the reading side: after visits ``judge/verdict`` is asked whether to go on.
A session can be killed at any instant; the next one starts from what lies on disk.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property

import steelyard
from steelyard.errors import HostError, RecordError
from steelyard.hosts.lease import Busy, Leases
from steelyard.hosts.secrets import refuse_missing_secrets
from steelyard.plan.budget import first_look, time_s
from steelyard.plan.model import Plan, PlannedTrial, PlannedVisit
from steelyard.records.archive import Run
from steelyard.records.events import (
    AttemptFinished,
    AttemptStarted,
    Event,
    SessionClosed,
    SessionEnd,
    SessionOpened,
    VisitsTimed,
)
from steelyard.records.files.checksums import held_against_the_plan
from steelyard.records.ledger import Ledger, refuse_foreign_run
from steelyard.records.schema import Outcome
from steelyard.records.sessions import damaged_while_up, plan_after, spent_ns
from steelyard.records.steady_clock import now_unix_ns
from steelyard.study.model import Study
from steelyard.trial.conduct import conduct
from steelyard.trial.session_state.context import SessionContext
from steelyard.trial.session_state.environment import EnvironmentSnapshots
from steelyard.trial.session_state.interim_looks import InterimLooks, interim_event
from steelyard.trial.session_state.interrupt import Interrupt
from steelyard.trial.session_state.kept_records import KeptRecords
from steelyard.trial.session_state.opening import (
    prepared,
    record_torn_attempts,
    refuse_what_cannot_start,
)
from steelyard.trial.session_state.pace import visits_by_pace
from steelyard.trial.session_state.progress import Progress, forgiven_attempts
from steelyard.trial.session_state.recalibrate import calibrate_anew
from steelyard.trial.session_state.remaining import Remaining
from steelyard.trial.session_state.watcher import Watcher
from steelyard.units import format_duration

_PERHAPS_AWAY = frozenset({Outcome.UNREACHABLE, Outcome.AGENT_LOST, Outcome.UNDO_FAILED})


def run_session(
    study: Study, run: Run, watcher: Watcher, interrupt: Interrupt, busy: Busy = Busy.REFUSE
) -> SessionEnd:
    """Starts or goes on with a run, and restores the machines.

    ``busy`` says what to do about a machine that another session uses.

    Raises:
        EngineError: the engine is missing, or an agent cannot be opened again.
        HostError: the disk of the records is full or not writable; a system cannot come up.
        RecordError: another controller has the run, or it was recorded for another study.
    """
    with session_on(study, run, watcher, interrupt, busy) as session:
        for _ in session.steps():
            pass
    return session.ended()


@contextmanager
def session_on(  # noqa: PLR0917 - what a session consists of
    study: Study,
    run: Run,
    watcher: Watcher,
    interrupt: Interrupt,
    busy: Busy = Busy.REFUSE,
    leases: Leases | None = None,
) -> Iterator[Session]:
    """A session whose steps are taken by who opens it; the machines are restored at its end.

    ``leases`` are those of another session in this process, which holds machines for both.

    Raises: as ``run_session``.
    """
    refuse_foreign_run(run.path)
    refuse_missing_secrets(study)
    plan = run.plan()
    _refuse_changed_study(study, plan, run)
    _refuse_other_version(run)
    try:
        with Ledger(run.ledger_path, watcher.recorded) as ledger, interrupt.installed():
            context = SessionContext(study, plan, run, ledger, interrupt, busy=busy, leases=leases)
            with _opened(Session(context, watcher)) as session:
                yield session
    except OSError as error:
        raise disk_error(run, error) from error


@contextmanager
def _opened(session: Session) -> Iterator[Session]:
    context, snapshots = session.session, session.snapshots
    session.before = context.ledger.events()
    _refuse_clock_behind(context.run, session.before)
    context.damaged = damaged_while_up(session.before)
    context.ledger.append(SessionOpened())
    try:
        yield session
    finally:
        session.watcher.undoing()
        try:
            context.undo_all()
            snapshots.compare(context.machines.at, hurried=context.interrupt.hurried)
        finally:
            context.close()
        context.ledger.append(SessionClosed(reason=session.reason))


@dataclass
class Session:
    """One session on one run. ``before`` are the events of earlier ones.

    Of several machines, ``needed`` says that others need visits of this one whatever is decided
    here, ``enough`` that they and this one need no more.
    """

    session: SessionContext
    watcher: Watcher
    before: list[Event] = field(default_factory=list)
    reason: SessionEnd | None = None
    deadline_ns: int | None = None
    looks: InterimLooks = field(default_factory=InterimLooks)
    kept: KeptRecords = field(default_factory=KeptRecords)
    needed: bool = False
    enough: bool = False

    @cached_property
    def snapshots(self) -> EnvironmentSnapshots:
        return EnvironmentSnapshots(self.session.run, self.session.ledger, self.session.mark)

    @cached_property
    def progress(self) -> Progress:
        run = self.session.run
        read = held_against_the_plan(run.path, self.session.plan, run.each_record())
        records = self.kept.of(read)
        forgiven = forgiven_attempts(self.before, records)
        return Progress(self.session.study.trials.retry, records, forgiven)

    @cached_property
    def remaining(self) -> Remaining:
        return Remaining(self.session, self.progress, self.looks, self.watcher)

    def ended(self) -> SessionEnd:
        """Why it did, once it has; what ended by an error has no reason."""
        return self.reason or "interrupted"

    def steps(self) -> Iterator[None]:
        """Makes all ready, then every visit that is not finished, in the order of the plan.

        It pauses when nothing that is needed is missing, when all is ready, and after each visit.
        """
        try:
            self._look()
            yield
            if prepared(self.session, self.progress, self.before, self.watcher):
                yield
                yield from self._through_the_plan()
            else:
                self.reason = "interrupted"
        except KeyboardInterrupt:
            self.reason = "interrupted"

    def _look(self) -> None:
        session, watcher = self.session, self.watcher
        session.hold_machines(watcher.waits)
        watcher.undo_earlier(session.undo_earlier())
        self.snapshots.look(session.host_machines(), session.machines.at)
        record_torn_attempts(session.run, session.plan, self.before)
        watcher.starts(session.plan, self.progress.trials_measured(session.plan))
        refuse_what_cannot_start(session, self.progress)

    def _through_the_plan(self) -> Iterator[None]:
        self.deadline_ns = _deadline_ns(self.session, self.before)
        done, asked = len(self.progress.visits_done(self.session.plan)), True
        self._count_visits(done)
        reason = self._reason_to_stop() if self.progress.records else None
        for visit in self._planned():
            if self.progress.visit_finished(visit) or self.remaining.is_needless(visit):
                continue
            if reason is not None:
                self.reason = reason
                return
            calibrate_anew(self.session, self.progress.records, self.watcher)
            reason = self._visit(visit)
            yield
            done, asked = done + 1, self._is_due(visit, done + 1)
            self._count_visits(done)
            if reason is None and asked:
                reason = self._reason_to_stop()
        if not asked and reason is None:
            reason = self._reason_to_stop()
        self.reason = reason or "budget_visits"

    def _planned(self) -> Iterator[PlannedVisit]:
        """The visits of the plan, also those that are added to it meanwhile."""
        done = 0
        while done < len(self.session.plan.every_visit):
            yield self.session.plan.every_visit[done]
            done += 1

    def _count_visits(self, visits_done: int) -> None:
        """Plans as many visits as the time holds, when the first ones were timed."""
        session = self.session
        if self.deadline_ns is None or visits_done != first_look(session.study):
            return
        left_s = (
            (self.deadline_ns - time.monotonic_ns()) / 1e9 / max(1, len(session.study.machines))
        )
        count = visits_by_pace(session.study, session.plan, session.ledger.events(), left_s)
        if count is not None:
            timed = VisitsTimed(visits=count, visits_before=len(session.plan.visits))
            session.ledger.append(timed)
            session.plan = plan_after(session.plan, [timed])

    def _is_due(self, visit: PlannedVisit, visits_done: int) -> bool:
        """Whether it is asked after a visit what is still to be measured."""
        failed = any(self.progress.given_up(trial) for trial in visit.trials)
        failed = failed or bool(self.session.damaged.keys() - self.remaining.given_up)
        return failed or self._time_is_up or self.enough or self.looks.is_due(visits_done)

    @property
    def _time_is_up(self) -> bool:
        return self.deadline_ns is not None and time.monotonic_ns() >= self.deadline_ns

    def _visit(self, visit: PlannedVisit) -> SessionEnd | None:
        """Those not tried again, because all failed alike, are tried again once one works."""
        while left := [trial for trial in visit.trials if not self.progress.finished(trial)]:
            for trial in left:
                while not self.progress.finished(trial):
                    if self.session.interrupt.asked:
                        return "interrupted"
                    self._attempt(trial)
        return None

    def _attempt(self, trial: PlannedTrial) -> None:
        attempt, session = self.progress.next_attempt(trial), self.session
        ledger = session.ledger
        session.hold_machines()
        ledger.append(AttemptStarted(trial=trial.trial, attempt=attempt))
        self.watcher.attempt_starts(trial, attempt)
        done = conduct(session, trial, attempt)
        session.run.write_attempt(done.record, documents=done.documents, samples=done.samples)
        outcome = done.record.outcome
        ledger.append(AttemptFinished(trial=trial.trial, attempt=attempt, outcome=outcome))
        self.progress.add(self.kept.small(done.record))
        self.watcher.attempt_ends(done.record)
        if done.stop is not None:
            raise done.stop
        if session.study.machine is not None and outcome in _PERHAPS_AWAY:
            session.reach_host_machines(again=True)  # no retry is of use while it is away

    def _reason_to_stop(self) -> SessionEnd | None:
        if self.remaining.give_up():
            return "failures"
        if self._decided():
            return "decided"
        return "budget_time" if self._time_is_up else None

    def _decided(self) -> bool:
        session, records = self.session, self.progress.records
        done = len(self.progress.visits_done(session.plan))
        with session.interrupt.waiting():
            seen = self.looks.ask(
                session.study,
                session.plan,
                records,
                done,
                given_up=self.remaining.given_up,
                lost=self.remaining.lost,
            )
        session.ledger.append(interim_event(seen, done))
        self.watcher.looked(seen, done)
        if self.needed:
            return False
        self.remaining.settled, self.remaining.answered = seen.settled, seen.answered
        return seen.decided or self.enough


def _refuse_clock_behind(run: Run, before: Sequence[Event]) -> None:
    """Trials are judged in the order of their times, which goes on from session to session."""
    last_ns = max((event.at_unix_ns for event in before), default=0)
    behind_ns = last_ns - now_unix_ns()
    if behind_ns > 0:
        then = datetime.fromtimestamp(last_ns / 1e9, tz=UTC)
        raise HostError(
            f"the clock of this machine is {format_duration(behind_ns / 1e9)} behind the last "
            f"event of {run.path}; nothing was started",
            hint="set it by a time server (chrony, systemd-timesyncd); if it is right, and was "
            f"ahead when that was recorded, resume after {then:%Y-%m-%d %H:%M:%S} UTC",
            slug="clock-is-behind-the-run",
        )


def _deadline_ns(session: SessionContext, before: list[Event]) -> int | None:
    budget_s = time_s(session.study, session.plan)
    if budget_s is None:
        return None
    if session.plan.budget_visits is not None:
        budget_s *= 2  # extended, as visits are
    budget_s *= max(1, len(session.study.machines))  # a part of several that take turns
    return time.monotonic_ns() + round(budget_s * 1e9) - spent_ns(before)


def _refuse_changed_study(study: Study, plan: Plan, run: Run) -> None:
    if study.sha256 != plan.study_sha256:
        raise RecordError(
            f"{run.study_path} is not the study that this run was planned for",
            hint="a run keeps the study it was hashed with; start a new run for a changed study",
            slug="study-has-changed",
        )


def _refuse_other_version(run: Run) -> None:
    """Trials of two versions are not trials of one experiment."""
    version = run.facts().tool_version
    if version != steelyard.__version__:
        raise RecordError(
            f"{run.path} was begun with version {version}, this is {steelyard.__version__}",
            hint=f"go on with version {version}, or start a new run; `report` and `restore` read "
            "runs of earlier versions",
            slug="run-of-another-version",
        )


def disk_error(run: Run, error: OSError) -> HostError:
    """Of the records: the disk is full, or gone."""
    return HostError(
        f"cannot write the records of the run in {run.path}: {error.strerror}",
        hint="make room or set the rights, then go on with `steelyard resume`",
        slug="records-cannot-be-written",
    )
