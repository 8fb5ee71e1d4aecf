"""A container run by systemd-nspawn, over a root of its own: the image below, a layer above.

Nothing is registered with machined and no unit is asked for, so it needs neither a system bus nor
systemd as init. The agent is the container's own process, on the pipe that nspawn passes on.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Sequence

from steelyard.engine.agent import AgentRefusal
from steelyard.errors import EngineError
from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.host import Host
from steelyard.hosts.tool import attempt, tell
from steelyard.hosts.undo.actions.inverse import Inverse
from steelyard.hosts.undo.actions.processes import RemoveCgroupTree
from steelyard.hosts.undo.log import INSIDE, PendingUndo
from steelyard.study.model import Reset
from steelyard.study.platform.settings import NspawnSettings
from steelyard.systems.confinement import (
    ACCOUNTS,
    NAMED,
    UNIFIED,
    Group,
    enter,
    joined,
    plan_bare_groups,
    plan_groups,
)
from steelyard.systems.nspawn.root import LayeredRoot
from steelyard.systems.platform import (
    AttachedDisk,
    Costs,
    InstanceContext,
    RawDisk,
    ResetProof,
    costs_of_container,
)

ENGINE = "/.steelyard/engine"
SERVICE_FOLDER = "/var/lib/steelyard"
_BARE = frozenset({ACCOUNTS, NAMED, UNIFIED})
"""Where nspawn makes groups of its own, which go with ours, and where it is accounted."""
_KEEP_PID = 'echo $$ > "$1"; shift; exec "$@"'
_LONGEST_END_S = 10.0
_BETWEEN_LOOKS_S = 0.05


class Nspawn:
    """A system in a container of systemd-nspawn."""

    def __init__(self, context: InstanceContext) -> None:
        self.context = context
        self._interface = context.interface()
        self._root = LayeredRoot(context)
        self._groups: list[Group] = []
        self._made: list[PendingUndo] = []
        self._host: Host | None = None
        self._image_sha256: str | None = None

    def up(self) -> None:
        if not self._made:
            self._refuse_without_means()
            self._image_sha256 = self._root.unpack()
            self._make_groups()
            self._plan(self._root.inverse)
            self._root.mount()
        self.host()

    def down(self) -> None:
        self._close()
        while self._made:
            self.context.undo.apply(self.context.host_machine(), self._made[-1])
            self._made.pop()
        self._groups = []

    def reset(self, strength: Reset) -> ResetProof:
        started_ns = time.monotonic_ns()
        before = self._pid()
        if strength == "service":
            self.host().sync_filesystem(SERVICE_FOLDER)
        elif strength == "process":
            self._close()
        elif strength == "container":
            self._close()
            self._root.unmount()
            self._root.mount()
        else:
            raise SystemFailure("not_supported", f"a container has no reset `{strength}`")
        evidence = {}
        if strength == "container":
            evidence["overlay.bytes"] = str(self._root.bytes_written())
        self.host()
        evidence["container.pid"] = str(self._pid())
        self._prove(strength, before, evidence)
        return ResetProof(strength, time.monotonic_ns() - started_ns, evidence)

    def pipe(self, argv: Sequence[str]) -> list[str]:
        """Into the namespaces of the container's own process."""
        words = ["nsenter", f"--target={self._leader()}", "--all", "--root", "--wd=/", *argv]
        return self.context.host_machine().way(words)

    def host(self) -> Host:
        if self._host is not None and self._host.lost:
            self._close()
        if self._host is None:
            self._host = self._open()
        return self._host

    def folder(self) -> str:
        return SERVICE_FOLDER

    def address(self) -> str:
        return "127.0.0.1" if self._interface is None else self._interface.address

    def attach(self, disk: RawDisk) -> AttachedDisk:
        raise SystemFailure(
            "not_supported",
            f"a container of systemd-nspawn cannot be given the disk {disk.name}",
            "take `platform: podman` or `native`, or leave `disks` out",
        )

    def detach(self, disk: AttachedDisk) -> None:
        """Nothing was attached."""

    def costs(self) -> Costs:
        return costs_of_container(self.context.host_machine(), self._leader())

    def facts(self) -> dict[str, str | None]:
        told = tell(self.context.host_machine(), ["systemd-nspawn", "--version"])
        return {"nspawn.version": told.splitlines()[0], "image.sha256": self._image_sha256}

    def _open(self) -> Host:
        host_machine = self.context.host_machine()
        try:
            agent = host_machine.open_agent(host_machine.way(self._words()))
        except EngineError as error:
            if error.slug != "agent-is-lost":
                raise
            message = f"the container {self.context.label} does not start: {error.message}"
            raise SystemFailure("not_ready", message, last_words=error.message) from error
        host = Host(INSIDE + self.context.label, agent, self.pipe, ENGINE)
        host.make_directory(SERVICE_FOLDER)
        return host

    def _words(self) -> list[str]:
        nspawn = [
            "systemd-nspawn",
            "--quiet",
            f"--directory={self._root.folder}",
            f"--machine={self.context.label[:64]}",
            "--register=no",
            "--keep-unit",
            "--as-pid2",
            "--console=pipe",
            "--private-users=no",
            "--resolv-conf=off",
            "--timezone=off",
            "--link-journal=no",
            f"--bind-ro={self.context.host_machine().engine}:{ENGINE}",
            *self._network_words(),
            ENGINE,
            "agent",
        ]
        return enter(self._groups, ["sh", "-c", _KEEP_PID, "sh", self._pid_file, *nspawn])

    def _network_words(self) -> list[str]:
        if self._interface is None or self.context.network is None:
            return []
        return [f"--network-namespace-path={self.context.network.namespace(self._interface)}"]

    @property
    def _pid_file(self) -> str:
        return f"{self.context.folder}/nspawn.pid"

    def _pid(self) -> int:
        """Of systemd-nspawn itself."""
        self.host()
        return int(self.context.host_machine().read_file(self._pid_file))

    def _leader(self) -> int:
        """The first process of the container, as the host numbers it."""
        pid = self._pid()
        told = self.context.host_machine().read_file(f"/proc/{pid}/task/{pid}/children").split()
        if not told:
            raise SystemFailure("not_ready", f"nothing runs in the container {self.context.label}")
        return int(told[0])

    def _make_groups(self) -> None:
        host, label = self.context.host_machine(), self.context.label
        settings = NspawnSettings.of(self.context.spec.settings)
        mounts = host.read_file("/proc/self/mounts")
        own = host.read_file(f"/proc/{host.agent_pid}/cgroup")
        limits = {"cpus": settings.cpus, "memory": settings.memory}
        wanted = {name: value for name, value in limits.items() if value}
        limited = plan_groups(
            wanted, label, mounts, own, lambda at: host.read_file(f"{at}/cgroup.subtree_control")
        )
        bare = plan_bare_groups(_BARE, label, mounts, own)
        for group in joined(limited, bare):
            self._make_group(host, group)

    def _make_group(self, host: Host, group: Group) -> None:
        if host.path_facts(group.folder).exists:
            message = f"on {host.name}: there is a control group {group.folder} already"
            raise SystemFailure("name_taken", message, "it was not touched")
        self._plan(RemoveCgroupTree(group.folder))
        host.make_directory(group.folder)
        for file, value in group.limits:
            host.write_file(f"{group.folder}/{file}", value)
        self._groups.append(group)

    def _plan(self, inverse: Inverse) -> None:
        host_machine = self.context.host_machine().name
        self._made.append(self.context.undo.plan(host_machine, inverse, removes=self.context.label))

    def _prove(self, strength: Reset, before: int, evidence: dict[str, str]) -> None:
        """Raises ``SystemFailure`` when the reset was not what it claims to be."""
        same = evidence["container.pid"] == str(before)
        empty = evidence.get("overlay.bytes", "0") == "0"
        if same != (strength == "service") or not empty:
            message = f"after the reset `{strength}` of {self.context.label} it is {evidence}"
            raise SystemFailure("reset_not_proved", message)

    def _refuse_without_means(self) -> None:
        host = self.context.host_machine()
        if tell(host, ["id", "-u"]) != "0":
            message = f"on {host.name}: systemd-nspawn needs root"
            raise SystemFailure("no_rights", message, "run as root, or take `platform: podman`")
        self.context.refuse_without_network()
        tell(host, ["systemd-nspawn", "--version"])

    def _close(self) -> None:
        """Ends the agent; returns when nothing stands in the container's groups any more.

        The container outlives an nspawn that was killed for as long as its agent has a pipe.
        """
        host, self._host = self._host, None
        if host is None:
            return
        with contextlib.suppress(EngineError, AgentRefusal):
            host.close()
        deadline = time.monotonic() + _LONGEST_END_S
        while self._processes() and time.monotonic() < deadline:
            time.sleep(_BETWEEN_LOOKS_S)
        if left := self._processes():
            tell(self.context.host_machine(), ["kill", "-KILL", *left])

    def _processes(self) -> list[str]:
        """Whatever stands in the groups of the container."""
        if not self._groups:
            return []
        folders = [group.folder for group in self._groups]
        argv = ["find", *folders, "-name", "cgroup.procs", "-exec", "cat", "{}", "+"]
        return sorted(set(attempt(self.context.host_machine(), argv).stdout.split()) - {"0"})
