"""Which system is up: all instances of one at a time, on their platforms.

A trial that needs another system, or the same one of another shape (another network card), has the
one that is up taken down first; of more or fewer instances only the difference is brought up or
taken down. Whatever idles beside a measured system would be part of what is measured.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from steelyard.hosts.host import Host
from steelyard.hosts.lab_network import LabNetwork, NamespaceNetwork
from steelyard.hosts.undo.actions.files import RemoveTree
from steelyard.hosts.undo.log import PendingUndo, UndoLog
from steelyard.study.lookup import platform_of
from steelyard.study.model import SystemSpec
from steelyard.study.platform.settings import SharedSettings
from steelyard.systems.platform import InstanceContext, Platform
from steelyard.systems.platforms import place
from steelyard.systems.settings.command_line import boot_arguments
from steelyard.trial.session_state.machines import SessionMachines

_Found = TypeVar("_Found")
LAB = "lab"


class InstancePool:
    """The instances that are up.

    ``folder_on`` says where a machine keeps the files of one, ``mark`` tells this run's things
    from those of any other.
    """

    def __init__(
        self,
        machines: SessionMachines,
        undo: UndoLog,
        folder_on: Callable[[Host, str], str],
        mark: str,
    ) -> None:
        self._machines = machines
        self._undo = undo
        self._folder_on = folder_on
        self._mark = mark
        self._shape = ""
        self._up: list[Platform] = []
        self._folders: list[tuple[str, PendingUndo]] = []
        self.network: LabNetwork | None = None

    def bring_up(self, system: SystemSpec) -> list[Platform]:
        """Every instance of ``system``, up; whatever else was up is down.

        Raises:
            SystemFailure: a platform cannot be brought up.
        """
        shape = _shape(system)
        if shape != self._shape:
            self.clear()
            self._shape = shape
            self.network = self._network(system)
            if self.network is not None:
                self.network.up()
        self._leave(self._up[system.instances :])
        numbers = range(len(self._up) + 1, system.instances + 1)
        self._up += [self._instance(system, number) for number in numbers]
        together(lambda platform: platform.up(), self._up)
        return list(self._up)

    def _leave(self, surplus: list[Platform]) -> None:
        """Takes down the last instances, with their folders, which were made in their order."""
        if surplus:
            together(lambda platform: platform.down(), surplus)
        for platform in reversed(surplus):
            self._up.remove(platform)
            self._drop_folder()

    def _drop_folder(self) -> None:
        machine, pending = self._folders[-1]
        self._undo.apply(self._machines.at(machine), pending)
        self._folders.pop()

    def clear(self) -> None:
        """Takes down what is up, every instance of it even if one refuses.

        What could not be taken down, because an agent was lost on the way, say, is still known:
        the next call tries again.

        Raises:
            SystemFailure, AgentRefusal, EngineError: the first refusal; its inverse stays pending.
        """
        self._shape = ""
        try:
            together(lambda platform: platform.down(), self._up)
            self._up = []
        finally:
            self._machines.forget_generators()
            if self.network is not None:
                self.network.down()
                self.network = None
            while self._folders:
                self._drop_folder()

    def forget(self) -> None:
        """Has the next trial make everything anew: what is up may not be what it was."""
        self._shape = ""

    def _instance(self, system: SystemSpec, number: int) -> Platform:
        label = f"steelyard-{self._mark}-{system.name}-{number}"
        context = InstanceContext(
            spec=system,
            instance=number,
            label=label,
            host_machine=lambda: self._machines.at(system.host_machine),
            undo=self._undo,
            folder=self._folder(system.host_machine, label),
            network=self.network,
        )
        return place(context)

    def _folder(self, machine: str, label: str) -> str:
        host = self._machines.at(machine)
        folder = self._folder_on(host, label)
        self._folders.append((machine, self._undo.plan(host.name, RemoveTree(folder))))
        host.make_directory(folder)
        return folder

    def _network(self, system: SystemSpec) -> LabNetwork | None:
        if (
            SharedSettings.of(system.settings).network != LAB
            or platform_of(system).driver == "command_line"
        ):
            return None  # a platform of commands has networks of its own, whatever their names
        return NamespaceNetwork(
            lambda: self._machines.at(system.host_machine), self._undo, f"steelyard-{self._mark}"
        )


def together(do: Callable[[Platform], _Found], platforms: Sequence[Platform]) -> list[_Found]:
    """Does the same with every instance at once; all end before the first failure is raised."""
    if len(platforms) == 1:
        return [do(platforms[0])]
    with ThreadPoolExecutor(max(1, len(platforms))) as pool:
        return [future.result() for future in [pool.submit(do, each) for each in platforms]]


def _shape(system: SystemSpec) -> str:
    """What a platform has to be made again for; disks and most settings change while it is up."""
    kept = system.model_dump(
        mode="json", exclude={"instances", "service", "inside", "outside", "disks"}
    )
    kept["boot_arguments"] = boot_arguments(system.inside)
    return json.dumps(kept, sort_keys=True)
