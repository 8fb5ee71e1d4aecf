"""What the checks of a platform stand on: one instance, the machine that carries it, a ledger."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

from steelyard.engine.agent import Agent
from steelyard.hosts.host import Host
from steelyard.hosts.lab_network import LabNetwork, NamespaceNetwork
from steelyard.hosts.undo.actions.files import RemoveTree
from steelyard.hosts.undo.log import UndoLog
from steelyard.records.ledger import Ledger
from steelyard.study.catalogue import Platform as Declared
from steelyard.study.model import SystemSpec
from steelyard.study.platform.settings import SharedSettings
from steelyard.systems.platform import InstanceContext, Platform

Make = Callable[[InstanceContext], Platform]
DISK_BYTES = 64 << 20


class Bench:
    """One platform under its checks; ``open_host_machine`` opens the machine that carries it.

    ``declared`` is what the catalogue says of the platform. ``folder`` is the bench's own on this
    machine. Everything the platform makes bears :attr:`run` in its name.
    """

    def __init__(
        self,
        make: Make,
        declared: Declared,
        settings: dict[str, Any],
        open_host_machine: Callable[[], Host],
        folder: Path,
    ) -> None:
        self.declared = declared
        self.run = f"steelyard-{uuid.uuid4().hex[:8]}"
        self._make = make
        self._settings = settings
        self._open_host_machine = open_host_machine
        self._host: Host | None = None
        self._generator: Host | None = None
        self._ledger = Ledger(folder / "ledger.jsonl")
        self.undo = UndoLog(self._ledger)
        self._folder = str(folder / "context")
        self._network: LabNetwork | None = None
        self._place: Platform | None = None

    def host_machine(self) -> Host:
        """The host, opened again when its agent was lost."""
        if self._host is not None and self._host.lost:
            self._host.close()
            self._host = None
        if self._host is None:
            self._host = self._open_host_machine()
        return self._host

    def place(self) -> Platform:
        """The instance, up."""
        self.network()
        if self._place is None:
            self._place = self._make(self.context("1"))
        self._place.up()
        return self._place

    def rival(self) -> Platform:
        """Another run's instance that would bear the same name."""
        return self._make(self.context("1", folder=f"{self._folder}-rival"))

    def context(self, instance: str, folder: str | None = None) -> InstanceContext:
        """What an instance stands on."""
        folder = folder or self._folder
        host_machine = self.host_machine()
        self.undo.plan(host_machine.name, RemoveTree(folder))
        host_machine.make_directory(folder)
        spec = SystemSpec(
            name="contract",
            platform="contract",
            settings=self._settings,
            disks={"data": {"size": DISK_BYTES}},
        )
        label = f"{self.run}-contract-{instance}"
        return InstanceContext(spec, 1, label, self.host_machine, self.undo, folder, self.network())

    def network(self) -> LabNetwork | None:
        """That of the run, if the platform has one and it was asked for."""
        if SharedSettings.of(self._settings).network != "lab":
            return None
        if self._network is None:
            self._network = NamespaceNetwork(self.host_machine, self.undo, f"{self.run}-lab")
        self._network.up()
        return self._network

    def generator(self) -> Host:
        """An agent where load comes from: in the lab network, or on the host."""
        network = self.network()
        if network is None:
            return self.host_machine()
        if self._generator is None or self._generator.lost:
            host_machine = self.host_machine()
            words = network.enter([host_machine.engine, "agent"])
            agent = Agent(host_machine.way(words), host_machine.patience)
            self._generator = Host("generator", agent, host_machine.way)
        return self._generator

    def down(self) -> None:
        """Takes down the system, and the network with the agent that stands in it."""
        if self._generator is not None:
            self._generator.close()
            self._generator = None
        if self._place is not None:
            self._place.down()
        if self._network is not None:
            self._network.down()

    def close(self) -> None:
        """Leaves nothing, whatever the checks came to."""
        try:
            self.down()
        finally:
            for pending in self.undo.pending():
                if not pending.inside:
                    self.undo.apply(self.host_machine(), pending)
            self.host_machine().close()
            self._ledger.close()
