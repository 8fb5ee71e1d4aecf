"""The machine itself, without a layer between.

Reset is a fresh process, an empty folder, and a disk that has written all that the trial before
left to it: as strong as ``reset: service`` says, and no stronger. Page cache, disk layout and
everything else of the machine carry over; the random order of visits is what keeps that from
favouring a system.

With ``confine`` or in the lab network the system has an agent of its own, which stands in its
control groups and its network namespace, and so does everything that it starts.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Sequence

from steelyard.errors import EngineError
from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.host import Host
from steelyard.hosts.tool import tell
from steelyard.hosts.undo.actions.processes import RemoveCgroup
from steelyard.hosts.undo.log import PendingUndo
from steelyard.study.model import Reset
from steelyard.study.platform.settings import Confinement, NativeSettings
from steelyard.systems.confinement import (
    ACCOUNTS,
    Group,
    cgroup_folder,
    enter,
    joined,
    plan_bare_groups,
    plan_groups,
)
from steelyard.systems.loop_disks import LoopDisks
from steelyard.systems.pinning import check_cpus, within
from steelyard.systems.platform import AttachedDisk, Costs, InstanceContext, RawDisk, ResetProof

_ENABLED = "cgroup.subtree_control"
_LONGEST_END_S = 10.0
_BETWEEN_LOOKS_S = 0.05


class Native:
    """A system on the machine that carries it."""

    def __init__(self, context: InstanceContext) -> None:
        self.context = context
        settings = NativeSettings.of(context.spec.settings)
        confine = settings.confine or Confinement()
        limits = {"cpus": confine.cpus, "memory": confine.memory}
        self._limits = {name: value for name, value in limits.items() if value is not None}
        self._cpuset = confine.cpuset
        self._in_lab = settings.network == "lab"
        self._interface = context.interface()
        self._loops = LoopDisks(context)
        self._groups: list[Group] = []
        self._limited: dict[str, str] = {}
        self._made: list[PendingUndo] = []
        self._own: Host | None = None

    def up(self) -> None:
        self.context.refuse_without_network()
        if self._cpuset is not None:
            check_cpus(self.context.host_machine(), self._cpuset)
        if self._limits and not self._groups:
            self._confine()
        self.host()

    def down(self) -> None:
        self._close()
        self._loops.remove_all()
        self._wait_until_empty()
        while self._made:
            self.context.undo.apply(self.context.host_machine(), self._made[-1])
            self._made.pop()
        self._groups = []

    def reset(self, strength: Reset) -> ResetProof:
        """The disk has written what waited for it."""
        started_ns = time.monotonic_ns()
        if strength not in ("service", "process"):
            raise SystemFailure("not_supported", f"the machine itself has no reset `{strength}`")
        if strength == "process":
            self._close()
        self._refuse_lost_limits()
        host = self.host()
        host.sync_filesystem(self.context.folder)
        evidence = {"boot_id": host.boot_id or "not told"}
        return ResetProof(strength, time.monotonic_ns() - started_ns, evidence)

    def pipe(self, argv: Sequence[str]) -> list[str]:
        return self.context.host_machine().way(self._within(list(argv)))

    def host(self) -> Host:
        if not self._limits and not self._in_lab and self._cpuset is None:
            return self.context.host_machine()
        if self._own is not None and self._own.lost:
            self._close()
        if self._own is None:
            self._own = self._open()
        return self._own

    def folder(self) -> str:
        return self.context.folder

    def address(self) -> str:
        return "127.0.0.1" if self._interface is None else self._interface.address

    def attach(self, disk: RawDisk) -> AttachedDisk:
        """A loop device over a file in the instance's folder."""
        device = self._loops.make(disk)
        return AttachedDisk(disk, device, (f"page cache of {self.context.host_machine().name}",))

    def detach(self, disk: AttachedDisk) -> None:
        self._loops.remove(disk.disk.name)

    def costs(self) -> Costs:
        """The control group of what is confined; the rest is shared with the machine."""
        if self._own is None or not self._groups:
            return Costs()
        host = self.context.host_machine()
        folder = cgroup_folder(
            host.read_file("/proc/self/mounts"),
            host.read_file(f"/proc/{self._own.agent_pid}/cgroup"),
        )
        return Costs(cgroups={} if folder is None else {"confined": folder})

    def facts(self) -> dict[str, str | None]:
        limits = [f"{f}={value}" for group in self._groups for f, value in group.limits]
        limits += [] if self._cpuset is None else [f"affinity={self._cpuset}"]
        return {"confined.by": " ".join(limits)} if limits else {}

    def _within(self, argv: list[str]) -> list[str]:
        if self._network is not None:
            argv = ["nsenter", f"--net={self._network}", *argv]
        return enter(self._groups, within(self._cpuset, argv))

    @property
    def _network(self) -> str | None:
        """Path of the namespace of its own, in the lab network."""
        if self._interface is None or self.context.network is None:
            return None
        return self.context.network.namespace(self._interface)

    def _open(self) -> Host:
        host_machine = self.context.host_machine()
        try:
            agent = host_machine.open_agent(self.pipe([host_machine.engine, "agent"]))
        except EngineError as error:
            if error.slug != "agent-is-lost":
                raise
            message = (
                f"no agent can be opened in the place of {self.context.label}: {error.message}"
            )
            raise SystemFailure("not_ready", message) from error
        return Host(host_machine.name, agent, self.pipe, host_machine.engine, self._network)

    def _confine(self) -> None:
        """Makes the control groups, each in the ledger first.

        Raises:
            SystemFailure: ``not_supported`` or ``no_rights``.
        """
        host = self.context.host_machine()
        if tell(host, ["id", "-u"]) != "0":
            message = f"on {host.name}: `confine` makes control groups, which needs root"
            raise SystemFailure("no_rights", message, "run as root, or take `confine` out")
        label, mounts = self.context.label, host.read_file("/proc/self/mounts")
        own = host.read_file(f"/proc/{host.agent_pid}/cgroup")
        limited = plan_groups(
            self._limits, label, mounts, own, lambda at: host.read_file(f"{at}/{_ENABLED}")
        )
        planned = joined(limited, plan_bare_groups(frozenset({ACCOUNTS}), label, mounts, own))
        for group in planned:
            if host.path_facts(group.folder).exists:
                message = f"on {host.name}: there is a control group {group.folder} already"
                raise SystemFailure("name_taken", message, "it was not touched")
            self._made.append(self.context.undo.plan(host.name, RemoveCgroup(group.folder)))
            host.make_directory(group.folder)
            for file, value in group.limits:
                host.write_file(f"{group.folder}/{file}", value)
        self._groups = planned
        self._limited = self._limits_now()

    def _limits_now(self) -> dict[str, str]:
        """What the kernel holds for each file that was written, in its own rounding."""
        host = self.context.host_machine()
        files = [f"{group.folder}/{file}" for group in self._groups for file, _ in group.limits]
        return {
            file: host.read_file(file).strip() if host.path_facts(file).exists else "gone"
            for file in files
        }

    def _refuse_lost_limits(self) -> None:
        """Whoever else rules the control groups of the machine may have taken a limit back.

        Raises:
            SystemFailure: ``reset_not_proved``.
        """
        for file, now in self._limits_now().items():
            if now != self._limited[file]:
                message = f"the limit {file} was {self._limited[file]} and is {now}"
                hint = "something else writes control groups there, such as systemd"
                raise SystemFailure("reset_not_proved", message, hint)

    def _wait_until_empty(self) -> None:
        """What was killed stands in its group until the kernel is done with it."""
        host = self.context.host_machine()
        deadline = time.monotonic() + _LONGEST_END_S
        for group in self._groups:
            while host.read_file(f"{group.folder}/cgroup.procs").strip():
                if time.monotonic() > deadline:
                    return  # the inverse names what runs there
                time.sleep(_BETWEEN_LOOKS_S)

    def _close(self) -> None:
        own, self._own = self._own, None
        if own is not None:
            with contextlib.suppress(EngineError):
                own.close()
