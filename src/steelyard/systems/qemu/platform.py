"""A virtual machine run by QEMU.

Of a built image the kernel, an initrd and the engine are given to it directly; the agent inside
is reached through a serial port of its own, so that control never touches the network that is
measured. A disk of the user's own is entered by ``ssh``, through a network card of its own. QEMU
is a child of the host's agent and ends with it.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Sequence

from steelyard.errors import EngineError
from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.host import Host
from steelyard.hosts.tool import tell
from steelyard.hosts.undo.actions.qemu import EndMachine, machines
from steelyard.hosts.undo.log import PendingUndo
from steelyard.study.model import Reset
from steelyard.study.platform.settings import QemuSettings
from steelyard.systems.pinning import check_cpus, pin_each, within
from steelyard.systems.platform import (
    VCPU,
    AttachedDisk,
    Costs,
    InstanceContext,
    RawDisk,
    ResetProof,
)
from steelyard.systems.qemu import command_line, snapshot
from steelyard.systems.qemu.accelerator import Accelerator, choose
from steelyard.systems.qemu.cloud_init import KEY
from steelyard.systems.qemu.disks import Disks
from steelyard.systems.qemu.machine import interface, on_user_network, shape
from steelyard.systems.qemu.overlays import Backing, make_overlay
from steelyard.systems.qemu.running import RunningMachine
from steelyard.systems.qemu.source import Source, provide
from steelyard.systems.qemu.ssh_console import SshConsole, join_lab, settle

SERVICE_FOLDER = "/var/lib/steelyard"


class Qemu:
    """A system in a virtual machine."""

    def __init__(self, context: InstanceContext) -> None:
        self.context = context
        self._settings = QemuSettings.of(context.spec.settings)
        self._source: Source | None = None
        self._accelerator: Accelerator | None = None
        self._machine: command_line.Machine | None = None
        self._snapshot: snapshot.Snapshot | None = None
        self._undo: PendingUndo | None = None
        self._running: RunningMachine | None = None
        self._disks: Disks | None = None
        self._entrance: SshConsole | None = None
        self._host: Host | None = None

    def up(self) -> None:
        if self._undo is None:
            self._refuse_taken_name()
            self._prepare()
            host_machine, label = self.context.host_machine(), self.context.label
            inverse = EndMachine(label, self.context.folder)
            self._undo = self.context.undo.plan(host_machine.name, inverse, removes=label)
        self.host()

    def down(self) -> None:
        self._end()
        if self._undo is not None:
            self.context.undo.apply(self.context.host_machine(), self._undo)
            self._undo = None
        if self._machine is not None:
            folder = self.context.folder
            names = (
                command_line.OVERLAY,
                command_line.INITRD,
                snapshot.DISK,
                snapshot.STATE,
                "disks",
            )
            for name in (*names, command_line.CLOUD_INIT, KEY, f"{KEY}.pub"):
                self.context.host_machine().remove_tree(f"{folder}/{name}")
        self._machine = self._snapshot = None

    def reset(self, strength: Reset) -> ResetProof:
        started_ns = time.monotonic_ns()
        boot_id = self.host().boot_id
        if strength == "boot":
            evidence = self._boot()
        elif strength == "snapshot":
            evidence = self._restore()
            boot_id = self._taken().boot_id
        elif strength == "process":
            evidence = self._new_agent()
        elif strength == "service":
            self.host().sync_filesystem(SERVICE_FOLDER)
            evidence = {}
        else:
            raise SystemFailure("not_supported", f"a virtual machine has no reset `{strength}`")
        evidence["boot_id"] = self.host().boot_id or "not told"
        if (self.host().boot_id == boot_id) == (strength == "boot"):
            message = f"the boot id was {boot_id} and after the reset `{strength}` it is {evidence}"
            raise SystemFailure("reset_not_proved", message)
        return ResetProof(strength, time.monotonic_ns() - started_ns, evidence)

    def pipe(self, argv: Sequence[str]) -> list[str]:
        return self.host().way(argv)

    def host(self) -> Host:
        if self._running is not None and not self._running.runs():
            self._end()
        if self._host is not None and self._host.lost:
            self._close_agent()
            self._dismiss_agent()
        if self._running is None:
            self._boot()
        elif self._host is None:
            self._open(self._running)
        if self._host is None:
            raise SystemFailure("not_ready", f"no agent is joined to {self.context.label}")
        return self._host

    def folder(self) -> str:
        return SERVICE_FOLDER

    def address(self) -> str:
        return "127.0.0.1" if on_user_network(self.context) else interface(self.context).address

    def attach(self, disk: RawDisk) -> AttachedDisk:
        inside = self.host()
        if self._disks is None:
            raise SystemFailure("not_ready", f"{self.context.label} does not run")
        return self._disks.attach(disk, inside)

    def detach(self, disk: AttachedDisk) -> None:
        if self._disks is not None:
            self._disks.detach(disk.disk)

    def costs(self) -> Costs:
        if self._running is None:
            return Costs()
        return Costs({"qemu": self._running.pid}, self._running.threads())

    def facts(self) -> dict[str, str | None]:
        source, accelerator = self._source, self._accelerator
        version = tell(self.context.host_machine(), [command_line.QEMU, "--version"]).splitlines()[
            0
        ]
        return {
            "qemu.version": version,
            "qemu.accelerator": accelerator.name if accelerator else None,
            "qemu.accelerator_reason": accelerator.reason if accelerator else None,
            "qemu.machine": command_line.MACHINE,
            "qemu.cpu_model": command_line.CPU,
            **({} if source is None else source.facts),
        }

    def _prepare(self) -> None:
        """Finds what it starts from and the accelerator."""
        host_machine, settings = self.context.host_machine(), self._settings
        for cpus in filter(None, (settings.cpuset, settings.vcpu_cpus)):
            check_cpus(host_machine, cpus)
        self._source = provide(self.context)
        self._accelerator = choose(host_machine, settings.accel, self._source.built_kernel)
        self._machine = shape(self.context, self._source, self._accelerator)

    def _boot(self) -> dict[str, str]:
        """A cold start on an empty overlay of the image."""
        machine, source = self._machine, self._source
        if machine is None or source is None:
            raise SystemFailure("not_ready", f"{self.context.label} is not up")
        return self._start(machine, source.disk)

    def _restore(self) -> dict[str, str]:
        """A start from the memory snapshot, on an empty overlay of its disk."""
        taken = self._taken()
        return self._start(taken.restored(), taken.disk)

    def _taken(self) -> snapshot.Snapshot:
        """The snapshot of this machine: of a guest that has just booted, and nothing else."""
        if self._snapshot is None or self._snapshot.machine != self._machine:
            self._boot()
            boot_id = self.host().boot_id
            snapshot.set_clock(
                self.host(), self.context.host_machine()
            )  # so that its program is read
            self.host().sync_filesystem(SERVICE_FOLDER)
            self._close_agent()
            if self._running is None:
                raise SystemFailure("not_ready", f"{self.context.label} does not run")
            self._snapshot = snapshot.take(self._running, boot_id)
            self._end()
        return self._snapshot

    def _start(self, machine: command_line.Machine, below: Backing) -> dict[str, str]:
        self._end()
        host_machine = self.context.host_machine()
        evidence = make_overlay(
            host_machine, f"{self.context.folder}/{command_line.OVERLAY}", below
        )
        self._running = RunningMachine(host_machine, machine, self._enter())
        self._disks = Disks(self._running)
        try:
            self._pin(self._running)
            if machine.incoming is not None:
                snapshot.wake(self._running)
            if machine.start is None:
                self._entrance = SshConsole(self._running, self._enter(), self._settings.key)
            host = self._open(self._running)
            if self._entrance is not None:
                join_lab(host, self._running)
            if machine.incoming is not None:
                snapshot.set_clock(host, host_machine)
            elif self._entrance is not None:
                settle(host)
        except SystemFailure:
            self._end()
            raise
        return evidence

    def _pin(self, running: RunningMachine) -> None:
        cpus = self._settings.vcpu_cpus
        if cpus is not None:
            pin_each(running.host_machine, running.threads()[VCPU], cpus)

    def _enter(self) -> list[str]:
        network, cpuset = self.context.network, self._settings.cpuset
        inside = [] if network is None or on_user_network(self.context) else network.enter([])
        return [*inside, *within(cpuset, [])]

    def _open(self, running: RunningMachine) -> Host:
        self._host = running.agent() if self._entrance is None else self._entrance.open()
        self._host.make_directory(SERVICE_FOLDER)
        return self._host

    def _end(self) -> None:
        """Ends the machine, and with it all that was attached to it."""
        self._close_agent()
        if self._running is not None:
            self._running.end()
        if self._disks is not None:
            self._disks.leave_servers()
        self._running = self._disks = self._entrance = None

    def _close_agent(self) -> None:
        host, self._host = self._host, None
        if host is not None:
            with contextlib.suppress(EngineError):
                host.leave()

    def _new_agent(self) -> dict[str, str]:
        before = self.host().agent_pid
        self._close_agent()
        if self.host().agent_pid == before:
            raise SystemFailure("reset_not_proved", f"the agent inside is still process {before}")
        return {"agent.pid": str(self.host().agent_pid)}

    def _dismiss_agent(self) -> None:
        """Ends the agent whose controller was lost: it may not have noticed, and go on."""
        if self._running is not None and self._entrance is None:
            self._running.agent().leave()

    def _refuse_taken_name(self) -> None:
        host_machine, label = self.context.host_machine(), self.context.label
        if machines(host_machine, label):
            raise SystemFailure(
                "name_taken",
                f"on {host_machine.name}: there is a virtual machine {label} already",
                "it was not touched; if a run left it, `steelyard restore` ends it",
            )
