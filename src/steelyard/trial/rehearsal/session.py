"""Goes through a study as a session does, on machines that only note what they are asked.

The phases are those of ``trial/conduct.py``, and so is all that they call: what a run does is not
described a second time. Left out is what neither starts nor changes anything: to settle, to sample,
to read facts.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from steelyard.engine.agent import Agent, AgentRefusal
from steelyard.engine.messages import PROTOCOL, Hello
from steelyard.engine.patience import Patience
from steelyard.errors import EngineError, HostError
from steelyard.hosts.environment import snapshot
from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.host import Host
from steelyard.hosts.machines import open_machine
from steelyard.hosts.transport import here
from steelyard.hosts.undo.ours import RunFolders
from steelyard.plan.model import Plan, PlannedTrial
from steelyard.records.archive import Run
from steelyard.records.ledger import Ledger
from steelyard.study.bind import bind
from steelyard.study.lookup import service_of
from steelyard.study.model import FIND, Reset, Study
from steelyard.systems.platform import ResetProof
from steelyard.systems.services.external import running_at
from steelyard.trial import conduct, finish
from steelyard.trial.attempt.attempt import Attempt
from steelyard.trial.attempt.instance import Instance
from steelyard.trial.attempt.outcomes import TrialFailed
from steelyard.trial.attempt.reference_kernel import measure_noise_at_rest
from steelyard.trial.drive.drivers import LoadDrive
from steelyard.trial.drive.events import events_of
from steelyard.trial.drive.measure import drive_of, is_probed, probe_of
from steelyard.trial.preflight import Preflight
from steelyard.trial.rehearsal.agent import NotKnown, RehearsedAgent
from steelyard.trial.rehearsal.ground import Ground
from steelyard.trial.rehearsal.looks import Looks
from steelyard.trial.rehearsal.steps import Step, Steps, numbers_in
from steelyard.trial.session_state.calibrate import calibrate, cell_key
from steelyard.trial.session_state.context import SessionContext
from steelyard.trial.session_state.interrupt import Interrupt

Seen = Callable[[str, Patience], Host | None]
"""A machine to look at; ``None`` where nothing is known of it."""
_STOPPED = (AgentRefusal, EngineError, HostError, SystemFailure, TrialFailed)
_UNREAD = (ValueError, LookupError)
"""Errors of reading an answer that was not given."""


def rehearse(
    study: Study, plan: Plan, run: Run, folder: Path, reach: Seen = open_machine
) -> list[Step]:
    """Every step of a run of ``plan`` whose folder would be ``folder``.

    ``run`` holds the study and an empty ledger, anywhere. ``reach`` opens a machine to look at.
    """
    folders = RunFolders(folder)
    trials = sorted(_trials(study, plan), key=lambda trial: trial.cell.system)
    steps = Steps(_names(folders, run), _ports(study, trials))
    with Ledger(run.ledger_path) as ledger:
        rehearsed = _Machines(steps, reach)
        session = SessionContext(
            study, plan, run, ledger, Interrupt(), reach=rehearsed.open, folders=folders
        )
        try:
            _Rehearsal(session, steps, trials).go()
        finally:
            session.close()
            rehearsed.close()
    return steps.all()


def _names(folders: RunFolders, run: Run) -> dict[str, str]:
    places = (folders.run, run.path)
    return {**{str(each.absolute()): "RUN" for each in places}, folders.mark: "MARK"}


def _ports(study: Study, trials: Sequence[PlannedTrial]) -> frozenset[str]:
    found: set[str] = set()
    for trial in trials:
        bound = bind(study, trial.cell)
        for number in range(1, bound.system.instances + 1):
            service = bound.service_of(number)
            found |= numbers_in({} if service is None else service.settings)
            found |= numbers_in(bound.workload_of(number).settings)
    return frozenset(found)


def _trials(study: Study, plan: Plan) -> Iterator[PlannedTrial]:
    """The first trial of all that differ in more than how much load there is."""
    cells, known = set(), set()
    for visit in plan.every_visit:
        for trial in visit.trials:
            cell = cell_key(trial.cell)
            if cell in cells or FIND in trial.cell.conditions:
                continue
            cells.add(cell)
            bound = bind(study, trial.cell)
            done = (bound.system, bound.workload, bound.background, bound.co_located, bound.find)
            if repr(done) not in known:
                known.add(repr(done))
                yield trial


@dataclass
class _Machines:
    """Machines that note; those that they look at are opened by ``reach``, and ended at the end."""

    steps: Steps
    reach: Seen
    _seen: list[Host] = field(default_factory=list)
    _open: dict[str, Host] = field(default_factory=dict)

    def open(self, address: str, _patience: Patience) -> Host:
        """A machine that cannot be reached now is gone through as one that is not there yet."""
        if address not in self._open:
            self._open[address] = self._rehearsed(address)
        return self._open[address]

    def close(self) -> None:
        for host in self._seen:
            host.close()

    def _rehearsed(self, address: str) -> Host:
        ground = Ground(address)
        try:
            host = self.reach(address, Patience())
        except _STOPPED as why:
            self.steps.note(address, "not_known", said=f"it cannot be reached: {why}")
            host = None
        if host is None:
            hello = Hello(protocol=PROTOCOL, version="", pid=1, boot_id=None)
            agent = RehearsedAgent(ground, self.steps, hello)
            return Host(address, agent, here, "steelyard-engine")
        self._seen.append(host)

        def noting(real: Agent) -> Agent:
            ground.real = Looks(real)
            return RehearsedAgent(ground, self.steps, real.hello)

        return host.with_agent(noting)


@dataclass
class _Rehearsal:
    session: SessionContext
    steps: Steps
    trials: Sequence[PlannedTrial]

    def go(self) -> None:
        """As ``trial/session.py`` does, with each cell once."""
        session, trials = self.session, self.trials
        self._during("session", session.hold_machines)
        self._during("session", self._look_at_machines)
        self._during("session", partial(self._look_at_needs, trials))
        self._during("session", lambda: measure_noise_at_rest(session))
        self._during("calibrate", lambda: calibrate(session, [trial.cell for trial in trials]))
        for trial in trials:
            self._trial(trial)
        self.steps.system = ""
        self._during("undo", session.undo_all)

    def _look_at_machines(self) -> None:
        for name in self.session.host_machines():
            snapshot(self.session.machines.at(name), self.session.mark)

    def _look_at_needs(self, trials: Sequence[PlannedTrial]) -> None:
        """Missing things are listed by the preflight on the machines themselves."""
        session = self.session
        places = (session.scratch, session.study_folder)
        look = Preflight(
            session.study,
            session.machines.at,
            *places,
            meter=lambda _: None,
            served=lambda _: None,
        )
        look.look([trial.cell for trial in trials])

    def _trial(self, trial: PlannedTrial) -> None:
        attempt = Attempt(self.session, trial, 1)
        self.steps.begin(attempt.key, trial.cell.system)
        for name, phase in _OF_A_TRIAL.items():
            if not self._during(name, partial(phase, attempt)):
                break
        self._during("undo", partial(finish.end_services, attempt))
        self._during("check_disks", partial(finish.check_disks, attempt))
        self._during("undo", partial(finish.undo, attempt))

    def _during(self, phase: str, do: Callable[[], object]) -> bool:
        """Whether it could be gone through to its end."""
        self.steps.phase = phase
        try:
            do()
        except (*_STOPPED, *_UNREAD) as why:
            self.steps.note(self._machine(), "not_known", said=str(why) or type(why).__name__)
            return False
        return True

    def _machine(self) -> str:
        system = self.session.study.systems.get(self.steps.system)
        return "local" if system is None else system.host_machine


def _restore(attempt: Attempt) -> None:
    """Up, and reset as far as that can be gone through: its proof is read where it is done."""
    session, system = attempt.session, attempt.cell.system
    strength = system.reset or session.study.trials.reset
    for platform in session.pool.bring_up(system, beside=attempt.stays_up):
        weakest: Reset = "service" if strength == "none" else strength
        with suppress(*_STOPPED, *_UNREAD):  # what proves it is there when it is done
            platform.reset(weakest)
        proof = ResetProof(weakest, 0, {})
        host, number = platform.host(), platform.context.instance
        folder = f"{platform.folder()}/{attempt.key}"
        host.make_directory(folder)
        workload = attempt.cell.workload_of(number)
        attempt.instances.append(Instance(number, platform, host, folder, workload, proof))


def _start_service(attempt: Attempt) -> None:
    """A server that runs already is not spoken to before the run is."""
    for instance in attempt.instances:
        spec = attempt.cell.service_of(instance.number)
        if spec is not None and not service_of(spec).started:
            instance.service = running_at(instance.host, spec, spec.use, None)
    conduct.start_service(attempt)


def _measure(attempt: Attempt) -> None:
    """What is sent is noted, what would come of it is not waited for."""
    drives = [drive_of(attempt, each) for each in (*attempt.working, *attempt.co_located)]
    for event in events_of(attempt):
        event.begin(0)
    if is_probed(attempt):
        for instance in attempt.measured:
            probe_of(attempt, instance).begin(time.monotonic_ns())
    for drive in drives:
        drive.warmup()
        drive.begin(None)
        if not isinstance(drive, LoadDrive):
            with suppress(NotKnown):
                drive.finish(time.monotonic_ns())


_OF_A_TRIAL: dict[str, Callable[[Attempt], None]] = {
    "run_reference_kernel": conduct.run_reference_kernel,
    "restore": _restore,
    "attach_disks": conduct.attach_disks,
    "configure": conduct.configure,
    "start_service": _start_service,
    "make_ready": conduct.make_ready,
    "drop_caches": conduct.drop_caches,
    "measure": _measure,
}
PHASES = ("", "session", "calibrate", *_OF_A_TRIAL, "check_disks", "undo")
"""In the order of a run; what has no phase is no part of it."""
