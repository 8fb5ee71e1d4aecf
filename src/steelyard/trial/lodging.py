"""Which system is up: all instances of one at a time, on their platforms.

A trial that needs another system, or the same one of another shape (another network card, another
number of instances), has the one that is up taken down first: whatever idles beside a measured
system would be part of what is measured.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from steelyard.hosts.host import Host
from steelyard.hosts.inverses.files import RemoveTree
from steelyard.hosts.lab_network import LabNetwork, NamespaceNetwork
from steelyard.hosts.undo import PendingUndo, UndoLog
from steelyard.study.model import SystemSpec
from steelyard.study.platforms.own import platform_of
from steelyard.systems.platform import Ground, Platform
from steelyard.systems.platforms import place
from steelyard.systems.settings.command_line import boot_words
from steelyard.trial.machines import Machines

_Found = TypeVar("_Found")
LAB = "lab"


class Lodging:
    """The instances that are up.

    ``folder_on`` says where a machine keeps the files of one, ``mark`` tells this run's things
    from those of any other.
    """

    def __init__(
        self, machines: Machines, undo: UndoLog, folder_on: Callable[[Host, str], str], mark: str
    ) -> None:
        self._machines = machines
        self._undo = undo
        self._folder_on = folder_on
        self._mark = mark
        self._shape = ""
        self._up: list[Platform] = []
        self._folders: list[tuple[Host, PendingUndo]] = []
        self.network: LabNetwork | None = None

    def house(self, system: SystemSpec) -> list[Platform]:
        """Every instance of ``system``, up; whatever else was up is down.

        Raises:
            SystemFailure: a platform cannot be brought up.
        """
        shape = _shape(system)
        if shape != self._shape:
            self.clear()
            self._shape = shape
            self.network = self._network(system)
            self._up = [self._instance(system, i + 1) for i in range(system.instances)]
        together(lambda platform: platform.up(), self._up)
        return self._up

    def clear(self) -> None:
        """Takes down what is up, every instance of it even if one refuses.

        Raises:
            SystemFailure, AgentRefusal, EngineError: the first refusal; its inverse stays pending.
        """
        up, self._up, self._shape = self._up, [], ""
        try:
            together(lambda platform: platform.down(), up)
        finally:
            self._machines.forget_generators()
            network, self.network = self.network, None
            if network is not None:
                network.down()
            while self._folders:
                host, pending = self._folders.pop()
                self._undo.apply(host, pending)

    def forget(self) -> None:
        """Has the next trial make everything anew: what is up may not be what it was."""
        self._shape = ""

    def _instance(self, system: SystemSpec, number: int) -> Platform:
        label = f"steelyard-{self._mark}-{system.name}-{number}"
        ground = Ground(
            spec=system,
            instance=number,
            label=label,
            carrier=lambda: self._machines.at(system.carrier),
            undo=self._undo,
            folder=self._folder(system.carrier, label),
            network=self.network,
        )
        return place(ground)

    def _folder(self, carrier: str, label: str) -> str:
        host = self._machines.at(carrier)
        folder = self._folder_on(host, label)
        self._folders.append((host, self._undo.plan(host.name, RemoveTree(folder))))
        host.make_directory(folder)
        return folder

    def _network(self, system: SystemSpec) -> LabNetwork | None:
        if system.settings.get("network") != LAB or platform_of(system).driver == "commanded":
            return None  # a platform of commands has networks of its own, whatever their names
        network = NamespaceNetwork(
            lambda: self._machines.at(system.carrier), self._undo, f"steelyard-{self._mark}"
        )
        network.up()
        return network


def together(do: Callable[[Platform], _Found], platforms: Sequence[Platform]) -> list[_Found]:
    """Does the same with every instance at once; all end before the first failure is raised."""
    if len(platforms) == 1:
        return [do(platforms[0])]
    with ThreadPoolExecutor(max(1, len(platforms))) as pool:
        return [future.result() for future in [pool.submit(do, each) for each in platforms]]


def _shape(system: SystemSpec) -> str:
    """What a platform has to be made again for; disks and most settings change while it is up."""
    kept = system.model_dump(mode="json", exclude={"service", "inside", "outside", "disks"})
    kept["boot_words"] = boot_words(system.inside)
    return json.dumps(kept, sort_keys=True)
