"""The machines of a session: opened when first needed, again when lost, ended at its end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from steelyard.engine.patience import Patience
from steelyard.hosts.host import Host
from steelyard.hosts.lab_network import LabNetwork
from steelyard.hosts.machines import LOCAL, Reach, open_machine
from steelyard.hosts.undo.actions.processes import EndProcess
from steelyard.hosts.undo.log import PendingUndo, UndoLog


@dataclass(frozen=True)
class _Open:
    """An open machine, and how its agent is ended should the controller not do it."""

    host: Host
    end_agent: PendingUndo | None


class SessionMachines:
    """Agents by name: ``local``, an address such as ``ssh://loader``, or one of many on them."""

    def __init__(self, undo: UndoLog, patience: Patience, reach: Reach = open_machine) -> None:
        """``reach`` opens a machine by its address."""
        self.reach = reach
        self._undo = undo
        self._patience = patience
        self._open: dict[str, _Open] = {}
        self._addresses: dict[str, str] = {}
        """Of further agents, by their names."""

    def local(self) -> Host:
        """The controller's own machine.

        Raises:
            EngineError: the engine is missing or of another version.
        """
        return self.at(LOCAL)

    def at(self, address: str) -> Host:
        """The machine at ``local`` or ``ssh://[USER@]HOST``.

        Raises:
            SystemFailure: it cannot be reached, or the engine cannot be carried there.
        """
        return self._kept(address, lambda: self.reach(address, self._patience))

    def generator(
        self, number: int, address: str, network: LabNetwork | None, place: int = 1
    ) -> Host:
        """An agent of its own for the load on one instance, inside the network it is on.

        The one for instance 1 of a system on the machine's own network is the machine's agent.
        ``place`` is its number among several that drive the load together.
        """
        if network is None and number == place == 1:
            return self.at(address)
        several = f"{number}" if place == 1 else f"{number}.{place}"
        return self._further(f"generator {several}", address, network)

    def address_of(self, host: Host) -> str:
        """Where a machine is found again: for an agent of the load, the address of its machine."""
        return self._addresses.get(host.name, host.name)

    def prober(self, number: int, address: str, network: LabNetwork | None) -> Host:
        """An agent of its own for the probe of one instance, where its load comes from."""
        return self._further(f"generator {number} of probes", address, network)

    def _further(self, what: str, address: str, network: LabNetwork | None) -> Host:
        place = "" if network is None else " in the lab network"
        name = f"{what} at {address}{place}"
        self._addresses[name] = address
        return self._kept(name, lambda: _within(name, self.at(address), network))

    def lose(self, name: str = LOCAL) -> None:
        """Ends and forgets an agent; the next use of the machine opens a new one."""
        opened = self._open.pop(name, None)
        if opened is not None:
            opened.host.close()
            if opened.end_agent is not None:
                self._undo.done(opened.end_agent)

    def forget_generators(self) -> None:
        """Ends the agents that stand in a network which is going away."""
        for name in [name for name in self._open if name.startswith("generator ")]:
            self.lose(name)

    def close(self) -> None:
        """Ends every agent, the newest first."""
        for name in reversed(list(self._open)):
            self.lose(name)

    def _kept(self, name: str, reach: Callable[[], Host]) -> Host:
        opened = self._open.get(name)
        if opened is not None and opened.host.lost:
            self.lose(name)
            opened = None
        if opened is None:
            host = reach()
            opened = self._open[name] = _Open(host, self._planned_end(name, host))
        return opened.host

    def _planned_end(self, name: str, host: Host) -> PendingUndo | None:
        """Of an agent on this machine; one behind ``ssh`` ends with its pipe."""
        if "ssh://" in name:
            return None
        return self._undo.plan(LOCAL, EndProcess(host.agent_pid, _start_ticks(host.agent_pid)))


def _within(name: str, machine: Host, network: LabNetwork | None) -> Host:
    """A further agent on a machine, or one inside a network namespace of it."""

    def way(argv: Sequence[str]) -> list[str]:
        return machine.way(argv if network is None else network.enter(argv))

    agent = machine.open_agent(way([machine.engine, "agent"]))
    return Host(name, agent, way, machine.engine)


def _start_ticks(pid: int) -> int:
    """Start time of a process on this machine, in clock ticks since boot (proc(5), field 22)."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[19])
