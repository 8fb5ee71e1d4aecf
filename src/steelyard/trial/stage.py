"""What stands ready while trials run: machines, platforms, the folder for a trial's own files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from steelyard.engine.agent import AgentRefusal
from steelyard.errors import EngineError, HostError
from steelyard.hosts.host import Host
from steelyard.hosts.inverses.files import RemoveTree
from steelyard.hosts.inverses.processes import EndProcess
from steelyard.hosts.restoring import take_back
from steelyard.hosts.transport import open_local_pipe
from steelyard.hosts.undo import PendingUndo, UndoLog
from steelyard.plan.model import Plan
from steelyard.records.archive import Run
from steelyard.records.ledger import Ledger
from steelyard.records.schema import Calibration
from steelyard.study.model import Study
from steelyard.systems.platform import Ground, Platform
from steelyard.systems.platforms import PLATFORMS
from steelyard.trial.interrupt import Interrupt

LOCAL = "local"
SCRATCH = "scratch"


@dataclass(frozen=True)
class _Open:
    """An open machine, and how its agent is ended should the controller not do it."""

    host: Host
    end_agent: PendingUndo


class Stage:
    """The machines of one session; opened when first needed, and again after one was lost."""

    def __init__(
        self, study: Study, plan: Plan, run: Run, ledger: Ledger, interrupt: Interrupt
    ) -> None:
        self.study = study
        self.plan = plan
        self.run = run
        self.ledger = ledger
        self.interrupt = interrupt
        self._undo = UndoLog(ledger)
        self._local: _Open | None = None
        self._scratch: PendingUndo | None = None
        self.calibrations: dict[str, Calibration] = {}

    @property
    def scratch(self) -> str:
        """The folder for files of trials, beside the records: on the disk that is asked about."""
        return str(self.run.path.absolute() / SCRATCH)

    def local(self) -> Host:
        """This machine; opened anew when its agent has ended.

        Raises:
            EngineError: the engine is missing or of another version.
        """
        if self._local is not None and self._local.host.lost:
            self.lose()
        if self._local is None:
            self._local = self._open_local()
        return self._local.host

    def platform(self, system: str) -> Platform:
        """The place that ``system`` lives on."""
        spec = self.study.systems[system]
        label = f"steelyard-{self.plan.seed % 16**8:08x}-{system}-1"
        ground = Ground(spec, 1, label, self.local, self._undo, self.scratch)
        return PLATFORMS[spec.platform](ground)

    def lose(self) -> None:
        """Ends and forgets the agent; the next use of the machine opens a new one."""
        if self._local is not None:
            self._local.host.close()
            self._undo.done(self._local.end_agent)
            self._local = None

    def put_right(self) -> list[PendingUndo]:
        """Takes back what earlier sessions left, newest first; returns what that was.

        Raises:
            HostError: something could not be taken back; it stays pending.
        """
        restored = take_back(self._undo, self._machine)
        if restored.left:
            raise _not_put_right(str(restored.left[0]))
        return restored.undone

    def _machine(self, name: str) -> Host:
        if name == LOCAL:
            return self.local()
        raise _not_put_right(f"this version knows no way to the machine {name}")

    def close(self) -> None:
        """Takes back every change of this session and ends the agent.

        Raises:
            HostError: the machine refuses; what is left stays pending.
        """
        try:
            if self._scratch is not None:
                self._apply_even_if_lost(self._scratch)
        finally:
            self.lose()

    def _open_local(self) -> _Open:
        host = Host(LOCAL, open_local_pipe())
        agent = EndProcess(host.agent_pid, _start_ticks(host.agent_pid))
        opened = _Open(host, self._undo.plan(LOCAL, agent))
        if self._scratch is None:
            self._scratch = self._undo.plan(LOCAL, RemoveTree(self.scratch))
        return opened

    def _apply_even_if_lost(self, undo: PendingUndo) -> None:
        try:
            self._apply(undo)
        except EngineError:
            self.lose()
            self._apply(undo)

    def _apply(self, undo: PendingUndo) -> None:
        try:
            self._undo.apply(self.local(), undo)
        except AgentRefusal as refusal:
            raise _not_put_right(
                f"on {undo.host}: cannot {undo.inverse}: {refusal.failure.message}"
            ) from refusal


def _not_put_right(message: str) -> HostError:
    return HostError(
        message,
        hint="mend what it names, then run `steelyard restore` with the folder of the run",
        slug="machine-cannot-be-put-right",
    )


def _start_ticks(pid: int) -> int:
    """Start time of a process on this machine, in clock ticks since boot (proc(5), field 22)."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[19])
