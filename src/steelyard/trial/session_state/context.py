"""What stands ready while trials run: machines, the system that is up, folders, undoing."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path

from steelyard.engine.agent import AgentRefusal
from steelyard.errors import EngineError, HostError
from steelyard.hosts.clocks import ClockOffset
from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.host import Host
from steelyard.hosts.lease import Busy, Leases, claimant_of
from steelyard.hosts.machines import LOCAL, Reach, open_machine
from steelyard.hosts.ssh import SCHEME
from steelyard.hosts.undo.actions.files import RemoveTree
from steelyard.hosts.undo.earlier import refuse_changed_machine
from steelyard.hosts.undo.log import PendingUndo, UndoLog
from steelyard.hosts.undo.ours import RunFolders
from steelyard.hosts.undo.restore import restore_all
from steelyard.plan.model import Plan
from steelyard.records.archive import Run
from steelyard.records.disk_checks import DiskCheck
from steelyard.records.events import DisksChecked
from steelyard.records.ledger import Ledger
from steelyard.records.schema import Calibration
from steelyard.records.sessions import damaged_while_up
from steelyard.study.lookup import machines_of_events
from steelyard.study.model import Study
from steelyard.study.platform.settings import SshSettings
from steelyard.trial.attempt.instance import Instance
from steelyard.trial.session_state.instance_pool import InstancePool
from steelyard.trial.session_state.interrupt import Interrupt
from steelyard.trial.session_state.machines import SessionMachines


@dataclass(frozen=True)
class KeptSystem:
    """A system that stays up between trials: its instances as the first trial prepared them."""

    instances: Sequence[Instance]
    take_down: Callable[[], None]


class SessionContext:
    """The machines of one session; opened when first needed, and again after one was lost."""

    def __init__(
        self,
        study: Study,
        plan: Plan,
        run: Run,
        ledger: Ledger,
        interrupt: Interrupt,
        *,
        busy: Busy = Busy.REFUSE,
        reach: Reach = open_machine,
        folders: RunFolders | None = None,
        leases: Leases | None = None,
    ) -> None:
        """``folders`` are those of another run than ``run``, for a rehearsal; ``leases`` those of
        another session, which holds machines for both.
        """
        self.study = study
        self.plan = plan
        self.run = run
        self.ledger = ledger
        self.folders = folders or RunFolders(run.path)
        self.rehearsed = folders is not None
        """Whether its machines only note what they are asked."""
        self.interrupt = interrupt
        self.undo = UndoLog(ledger)
        self.machines = SessionMachines(self.undo, interrupt.patience, reach)
        self.pool = InstancePool(self.machines, self.undo, self.folder_on, self.mark)
        self.leases = leases or Leases(
            claimant_of(run, ledger), busy, partial(refuse_changed_machine, own=run)
        )
        self.kept: dict[str, KeptSystem] = {}
        self._scratch: PendingUndo | None = None
        self.calibrations: dict[str, Calibration] = {}
        self.ahead_s: dict[str, float] = {}
        """How long before a common start its jobs are sent, by system; where the usual is short."""
        self.damaged: dict[str, tuple[DiskCheck, ...]] = {}
        """Checks that found damage on systems that stayed up, by system."""
        self.started: set[str] = set()
        """The cells in which a common start has succeeded."""

    @property
    def scratch(self) -> str:
        """The folder for files of trials, beside the records: on the disk that is asked about."""
        return self.folders.scratch

    @cached_property
    def study_folder(self) -> str:
        """The folder of the study file, for files beside it."""
        return str(Path(self.run.facts().study_file).absolute().parent)

    @property
    def mark(self) -> str:
        """What every name of this run's things on machines holds."""
        return self.folders.mark

    def folder_on(self, host: Host, name: str) -> str:
        """A folder of the run on a machine: in ``scratch`` here, in ``/var/tmp`` elsewhere."""
        if host is self.local():
            return f"{self.scratch}/{name}"
        return f"/var/tmp/steelyard-{self.mark}-{name}"  # noqa: S108 - made by the agent there

    def local(self) -> Host:
        """The controller's machine; opened anew when its agent has ended.

        The removal of ``scratch`` is planned before anything can be stored there.
        """
        if self._scratch is None:
            self._scratch = self.undo.plan(LOCAL, RemoveTree(self.scratch))
        return self.machines.local()

    def clock_of(self, host: Host) -> ClockOffset:
        """The clock of a machine against the controller's; exactly the same on the same kernel."""
        if host.boot_id is not None and host.boot_id == self.local().boot_id:
            return ClockOffset(offset_ns=0, uncertainty_ns=0, at_ns=time.monotonic_ns())
        return host.clock_offset()

    def undo_earlier(self) -> list[PendingUndo]:
        """Undoes what earlier sessions left, newest first; returns what that was.

        Raises:
            HostError: something could not be undone; it stays pending.
        """
        restored = restore_all(self.undo, self.machines.at, self.folders)
        if restored.left:
            raise _not_restored(str(restored.left[0]))
        return restored.undone

    def host_machines(self) -> list[str]:
        """Every machine that carries a system, by name."""
        return list(dict.fromkeys(system.host_machine for system in self.study.systems.values()))

    def reach_host_machines(self, *, again: bool) -> None:
        """Opens every machine that carries a system, or takes those that are open.

        ``again``: the run has begun; then also those that drive the load, or have events.

        Raises:
            HostError: one cannot be reached.
        """
        others = [each for each in self._others() if each.startswith(SCHEME)] if again else []
        for address in dict.fromkeys([*self.host_machines(), *others]):
            try:
                self.machines.at(address)
            except SystemFailure as failure:
                raise HostError(
                    failure.message,
                    hint="repair it, then go on with `steelyard resume`; what is planned waits"
                    if again
                    else "nothing was started; take it out of `machines`, or repair the way there",
                    slug="machine-cannot-be-reached",
                ) from failure

    def hold_machines(self, waits: Callable[[str], None] = lambda _: None) -> None:
        """Returns when every machine of the study that can be reached is this session's alone.

        Raises:
            HostError: another session measures on one.
            KeyboardInterrupt: the user asks to stop.
        """
        for name in dict.fromkeys([*self._systems_at(), *self._others()]):
            with self.interrupt.waiting():
                try:
                    self.leases.hold(self.machines.at(name), waits)
                except (AgentRefusal, EngineError, SystemFailure):
                    continue  # a trial that needs it says so

    def _others(self) -> tuple[str, ...]:
        """Machines that drive the load, and those of events."""
        return (*self.study.generator.hosts, *machines_of_events(self.study).values())

    def _systems_at(self) -> Iterator[str]:
        for system in self.study.systems.values():
            yield system.host_machine
            if system.platform == "ssh":
                yield SCHEME + SshSettings.of(system.settings).host.removeprefix(SCHEME)

    def undo_all(self) -> None:
        """Undoes every change of this session.

        Raises:
            HostError: a machine refuses; what is left stays pending.
        """
        try:
            self.take_down_kept()
            _even_if_lost(self.pool.clear)
        except (AgentRefusal, SystemFailure) as refusal:
            raise _not_restored(str(refusal)) from refusal
        if self._scratch is not None:
            self._apply_even_if_lost(self._scratch)
            self._scratch = None

    def take_down_kept(self) -> None:
        """Ends the services of all systems that stayed up, and undoes what was set for them.

        Raises:
            SystemFailure, AgentRefusal, EngineError: a machine refuses; its inverse stays pending.
        """
        while self.kept:
            _, system = self.kept.popitem()
            _even_if_lost(system.take_down)

    def record_disk_checks(self, system: str, checks: Sequence[DiskCheck]) -> None:
        """Those of a system that stayed up."""
        found = DisksChecked(system=system, disk_checks=tuple(checks))
        self.ledger.append(found)
        self.damaged |= damaged_while_up([found])

    def apply_by_a_new_agent(self, undo: PendingUndo) -> None:
        """Where the agent of its machine has ended; what cannot be applied stays pending."""
        with suppress(AgentRefusal, EngineError, SystemFailure):
            self.undo.apply(self.machines.at(undo.host), undo)

    def close(self) -> None:
        """Ends every agent."""
        self.machines.close()

    def _apply_even_if_lost(self, undo: PendingUndo) -> None:
        try:
            self._apply(undo)
        except EngineError:
            self.machines.lose(undo.host)
            self._apply(undo)

    def _apply(self, undo: PendingUndo) -> None:
        try:
            self.undo.apply(self.machines.at(undo.host), undo)
        except AgentRefusal as refusal:
            raise _not_restored(
                f"on {undo.host}: cannot {undo.inverse}: {refusal.failure.message}"
            ) from refusal


def _even_if_lost(take_down: Callable[[], None]) -> None:
    """Again where an agent ended on the way: a new one goes on."""
    try:
        take_down()
    except EngineError:
        take_down()


def _not_restored(message: str) -> HostError:
    return HostError(
        message,
        hint="fix what it names, then run `steelyard restore` with the folder of the run",
        slug="machine-cannot-be-restored",
    )
