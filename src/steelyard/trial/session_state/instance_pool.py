"""Which systems are up, on their platforms: one at a time, or all that a study keeps up.

A trial that needs another system, or the same one of another shape (another network card), has the
one that is up taken down first; of more or fewer instances only the difference is brought up or
taken down. Whatever idles beside a measured system would be part of what is measured: a study says
that it accepts that with ``reset: none``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import chain, count
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


@dataclass
class _System:
    """The instances of one system that are up, and the folder of each, in their order.

    ``name`` is in the name of each: two shapes of one system may be up side by side.
    """

    name: str
    platforms: list[Platform] = field(default_factory=list)
    folders: list[tuple[str, PendingUndo]] = field(default_factory=list)


class InstancePool:
    """The instances that are up, by the shape of their system.

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
        self._stale = False
        self._up: dict[str, _System] = {}
        self.network: LabNetwork | None = None

    def bring_up(self, system: SystemSpec, *, beside: bool = False) -> list[Platform]:
        """Every instance of ``system``, up; whatever else was up is down, unless it stays beside.

        Raises:
            SystemFailure: a platform cannot be brought up.
        """
        shape = _shape(system)
        if self._stale or (shape not in self._up and not beside):
            self.clear()
        if not self._up:
            self._stale = True  # until the network is whole
            self.network = self._network(system)
            if self.network is not None:
                self.network.up()
            self._stale = False
        up = self._up.setdefault(shape, _System(self._free_name(system.name)))
        self._leave(up, up.platforms[system.instances :])
        numbers = range(len(up.platforms) + 1, system.instances + 1)
        up.platforms += [self._instance(up, system, number) for number in numbers]
        together(lambda platform: platform.up(), up.platforms)
        return list(up.platforms)

    def _free_name(self, name: str) -> str:
        """The name of a system, with a number behind it where another shape of it has it."""
        taken = {up.name for up in self._up.values()}
        numbered = (f"{name}-shape{number}" for number in count(2))
        return next(each for each in chain([name], numbered) if each not in taken)

    def _leave(self, up: _System, surplus: list[Platform]) -> None:
        """Takes down the last instances, with their folders, which were made in their order."""
        if surplus:
            together(lambda platform: platform.down(), surplus)
        for platform in reversed(surplus):
            up.platforms.remove(platform)
            self._drop_folder(up)

    def _drop_folder(self, up: _System) -> None:
        machine, pending = up.folders[-1]
        self._undo.apply(self._machines.at(machine), pending)
        up.folders.pop()

    def clear(self) -> None:
        """Takes down what is up, every instance of it even if one refuses.

        What could not be taken down, because an agent was lost on the way, say, is still known:
        the next call tries again.

        Raises:
            SystemFailure, AgentRefusal, EngineError: the first refusal; its inverse stays pending.
        """
        self._stale = True
        try:
            for up in self._up.values():
                together(lambda platform: platform.down(), up.platforms)
                up.platforms = []
        finally:
            self._machines.forget_generators()
            if self.network is not None:
                self.network.down()
                self.network = None
            for up in self._up.values():
                while up.folders:
                    self._drop_folder(up)
        self._up = {}
        self._stale = False

    def forget(self) -> None:
        """Has the next trial make everything anew: what is up may not be what it was."""
        self._stale = True

    def _instance(self, up: _System, system: SystemSpec, number: int) -> Platform:
        label = f"steelyard-{self._mark}-{up.name}-{number}"
        context = InstanceContext(
            spec=system,
            instance=number,
            label=label,
            host_machine=lambda: self._machines.at(system.host_machine),
            undo=self._undo,
            folder=self._folder(up, system.host_machine, label),
            network=self.network,
            reach=self._machines.reach,
        )
        return place(context)

    def _folder(self, up: _System, machine: str, label: str) -> str:
        host = self._machines.at(machine)
        folder = self._folder_on(host, label)
        up.folders.append((machine, self._undo.plan(host.name, RemoveTree(folder))))
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
