"""What every platform must be able to do.

A platform is little more than a way to open a pipe to an agent. One object stands for one
*instance* of a system. Calls come in this order: ``up``; then ``reset`` before each trial, never
while a service runs; between them ``attach``, ``detach``, ``host``; ``down`` at the end, also
after a failure of anything. ``up`` of what is up and ``down`` of what is down do nothing.

Every change to the host goes through ``context.undo`` first, so that
``steelyard restore`` can undo it after a crash at any instant.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from steelyard.engine.agent import AgentRefusal
from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.host import Host
from steelyard.hosts.lab_network import Interface, LabNetwork
from steelyard.hosts.machines import Reach, open_machine
from steelyard.hosts.undo.log import UndoLog
from steelyard.study.declared.network_disks import NetworkDisk
from steelyard.study.model import Reset, SystemSpec, TrialReset
from steelyard.study.platform.settings import SharedSettings
from steelyard.systems.confinement import cgroup_folder


@dataclass(frozen=True)
class InstanceContext:
    """What one instance of a system stands on.

    ``label`` is unique on the machine that carries it and begins with ``steelyard-``: containers,
    domains and namespaces bear it, and nothing without it is ever touched. ``host_machine`` opens
    that machine (again, should its agent have been lost). ``folder`` is the instance's own there:
    it exists, holds images, sockets and consoles, and is removed by whoever gave it. ``network`` is
    the network namespace of the run; ``None`` where the study asks for none. ``reach`` opens
    another machine by its address.
    """

    spec: SystemSpec
    instance: int
    label: str
    host_machine: Callable[[], Host]
    undo: UndoLog
    folder: str
    network: LabNetwork | None = None
    reach: Reach = open_machine

    def interface(self) -> Interface | None:
        """What the instance has on the lab network; ``None`` where the run has none."""
        return None if self.network is None else self.network.interface(self.label)

    def refuse_without_network(self) -> None:
        """Raises ``SystemFailure`` when the lab network was asked for and is not there."""
        if self.network is None and SharedSettings.of(self.spec.settings).network == "lab":
            raise SystemFailure("not_supported", f"{self.label} has no lab network to join")


@dataclass(frozen=True)
class RawDisk:
    """One disk to be attached: ``name`` such as ``data-1`` is its serial number, too.

    It is made, or the beginning of one that a server offers: blank, unless ``anything`` that lies
    there may be overwritten.
    """

    name: str
    size_bytes: int
    cache: str = "none"
    bus: str = "virtio"
    offered: NetworkDisk | None = None
    anything: bool = False


def _nothing() -> None:
    return None


@dataclass(frozen=True)
class AttachedDisk:
    """A disk as the system sees it: ``device`` such as ``/dev/vdb``.

    ``caches`` are the places that may hold its data, from the system outwards. ``failed`` asks what
    its server has failed to do so far; nothing is known of one that a machine has itself.
    """

    disk: RawDisk
    device: str
    caches: tuple[str, ...] = ()
    failed: Callable[[], str | None] = field(default=_nothing, compare=False)


@dataclass(frozen=True)
class ResetProof:
    """That a reset was what it claims to be: ``evidence`` was read back after it.

    Such as ``boot_id``, ``container.id``, ``overlay.backing`` (a digest), ``overlay.bytes``.
    """

    strength: TrialReset
    took_ns: int
    evidence: dict[str, str]


VCPU, IO = "vcpu", "io"
"""Threads of an emulator: those that are the guest's processors, and those that serve its disks."""
_PREFIX = "CPU "
"""How QEMU calls them where it is configured to name its threads, as libvirt does."""


@dataclass(frozen=True)
class Threads:
    """Some threads of one process, by their ids."""

    process: int
    ids: tuple[int, ...]


@dataclass(frozen=True)
class Costs:
    """What stands for the instance on the machine that carries it, to be sampled there.

    ``processes`` are roots of process trees, ``cgroups`` folders, by a name of the platform's;
    ``threads`` are groups of threads by what they are for (``VCPU``, ``IO``).
    """

    processes: dict[str, int] = field(default_factory=dict)
    threads: dict[str, Threads] = field(default_factory=dict)
    cgroups: dict[str, str] = field(default_factory=dict)


def vcpus_by_name(host_machine: Host, pid: int) -> Threads | None:
    """The threads of ``pid`` that its guest's processors are named by; ``None`` where none are.

    A process that is gone has none either: that the guest is gone is reported where it is used.
    """
    try:
        places = host_machine.thread_places(pid).threads
    except AgentRefusal:
        return None
    ids = [place.id for place in places if place.process == pid and place.name.startswith(_PREFIX)]
    return Threads(pid, tuple(ids)) if ids else None


def costs_of_container(host_machine: Host, pid: int) -> Costs:
    """Of a container whose first process the host numbers so: that, and its control group."""
    folder = cgroup_folder(
        host_machine.read_file("/proc/self/mounts"), host_machine.read_file(f"/proc/{pid}/cgroup")
    )
    return Costs({"container": pid}, cgroups={} if folder is None else {"container": folder})


class Platform(Protocol):
    """One instance of a system.

    Every method may raise ``SystemFailure`` (typed), ``AgentRefusal`` or ``EngineError``.
    """

    context: InstanceContext

    def up(self) -> None:
        """Makes the system and reaches it; every call on the way has a deadline."""

    def down(self) -> None:
        """Takes away whatever :meth:`up` and :meth:`attach` made."""

    def reset(self, strength: Reset) -> ResetProof:
        """The state of the first trial again, as thoroughly as ``strength`` says, and proved.

        A reset beyond ``service`` may end the agent: ask :meth:`host` again afterwards.
        """

    def pipe(self, argv: Sequence[str]) -> list[str]:
        """Words for the controller that run ``argv`` inside, stdin and stdout joined."""

    def host(self) -> Host:
        """The agent inside; opened when first asked for and after it was lost."""

    def folder(self) -> str:
        """Where the files of a service belong inside; there from :meth:`up` on.

        What lies in it is the service's alone; whoever starts one makes a folder of its own below.
        """

    def address(self) -> str:
        """The IP address under which the generator reaches services inside."""

    def attach(self, disk: RawDisk) -> AttachedDisk:
        """Makes an empty disk and attaches it to the running system."""

    def detach(self, disk: AttachedDisk) -> None:
        """Takes the disk off and removes what held it."""

    def costs(self) -> Costs:
        """What to sample on the host; empty where inside and outside are the same."""

    def facts(self) -> dict[str, str | None]:
        """What is true of the system and stays so: accelerator, image digest, tool versions."""
