"""A container run by Podman.

The agent is the container's own process, with stdin open: one ``podman run`` makes the container
and reaches the agent, and whatever is left of a container without its agent has ended. ``reset:
container`` removes it and makes another, whose writable layer is looked at before it is used.
"""

from __future__ import annotations

import contextlib
import hashlib
import time
from collections.abc import Sequence

from steelyard.errors import EngineError
from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.host import Host
from steelyard.hosts.tool import tell
from steelyard.hosts.undo.actions.podman import RemoveContainer
from steelyard.hosts.undo.log import INSIDE, PendingUndo
from steelyard.study.model import Reset
from steelyard.study.platform.settings import PodmanSettings
from steelyard.systems.loop_disks import LoopDisks
from steelyard.systems.platform import (
    AttachedDisk,
    Costs,
    InstanceContext,
    RawDisk,
    ResetProof,
    costs_of_container,
)
from steelyard.systems.podman.argv import (
    ENGINE,
    HOST_NETWORK,
    ID_NOTE,
    PID_NOTE,
    SERVICE_FOLDER,
    Running,
    not_started,
    run_argv,
)
from steelyard.systems.podman.image import provide
from steelyard.systems.podman.proofs import prove_new, prove_same
from steelyard.systems.podman.tool import Container, Tool


class Podman:
    """A system in a container."""

    def __init__(self, context: InstanceContext) -> None:
        self.context = context
        self._settings = PodmanSettings.of(context.spec.settings)
        self._tool = Tool(context.host_machine, self._settings.runtime)
        self._interface = context.interface()
        self._mark = hashlib.sha256(f"{context.folder} {context.label}".encode()).hexdigest()[:16]
        self._loops = LoopDisks(context)
        self._image: str | None = None
        self._undo: list[PendingUndo] = []
        self._host: Host | None = None
        self._seen: Container | None = None

    def up(self) -> None:
        self.context.refuse_without_network()
        if self._image is None:
            self._refuse_taken_name()
            self._image, name = provide(self.context, self._tool)
            inverse = RemoveContainer(self.context.label, self._mark)
            host_machine = self.context.host_machine().name
            planned = self.context.undo.plan(host_machine, inverse, removes=self.context.label)
            self._undo = [planned, *([] if name is None else [name])]
        self.host()

    def down(self) -> None:
        self._close_agent()
        host_machine = self.context.host_machine()
        while self._undo:
            self.context.undo.apply(host_machine, self._undo[0])
            del self._undo[0]
        self._loops.remove_all()
        self._image = self._seen = None

    def reset(self, strength: Reset) -> ResetProof:
        started_ns = time.monotonic_ns()
        if strength == "container":
            evidence = self._made_anew()
            return ResetProof(strength, time.monotonic_ns() - started_ns, evidence)
        before = self._seen or self._container()
        if strength == "process":
            self._close_agent()
            self.host()
        elif strength == "service":
            self.host().sync_filesystem(SERVICE_FOLDER)
        else:
            raise SystemFailure("not_supported", f"a container has no reset `{strength}`")
        evidence = prove_same(strength, self.context.label, before, self._container())
        return ResetProof(strength, time.monotonic_ns() - started_ns, evidence)

    def pipe(self, argv: Sequence[str]) -> list[str]:
        words = ["podman", "exec", "--interactive", self.context.label, *argv]
        return self.context.host_machine().way(words)

    def host(self) -> Host:
        if self._host is not None and self._host.lost:
            self._close_agent()
        if self._host is None:
            self._host = self._open()
        return self._host

    def folder(self) -> str:
        return SERVICE_FOLDER

    def address(self) -> str:
        return "127.0.0.1" if self._interface is None else self._interface.address

    def attach(self, disk: RawDisk) -> AttachedDisk:
        """A loop device over a file on the host; its node is made inside the container."""
        if self._tool.info.rootless or not self.context.spec.disks:
            raise SystemFailure(
                "not_supported",
                f"the container {self.context.label} cannot be given the disk {disk.name}",
                "it takes root, and `disks` of the system so that it may use loop devices",
            )
        device = self._loops.make(disk)
        self._show(device)
        return AttachedDisk(disk, device, (f"page cache of {self.context.host_machine().name}",))

    def detach(self, disk: AttachedDisk) -> None:
        tell(self.context.host_machine(), ["rm", "-f", "--", self._from_outside(disk.device)])
        self._loops.remove(disk.disk.name)

    def costs(self) -> Costs:
        container = self._container()
        if not container.pid:
            return Costs()
        return costs_of_container(self.context.host_machine(), container.pid)

    def facts(self) -> dict[str, str | None]:
        info, container = self._tool.info, self._container()
        runtime = tell(self.context.host_machine(), [self._tool.runtime, "--version"])
        return {
            "podman.version": info.version,
            "podman.runtime": runtime.splitlines()[0],
            "podman.storage": info.storage_driver,
            "podman.cgroups": info.cgroup_version,
            "podman.rootless": "yes" if info.rootless else "no",
            "image.id": container.image_id,
            "image.digest": container.image_digest or None,
        }

    def _open(self) -> Host:
        """The agent of the container: of the one that is there, or of one that is made.

        Raises:
            SystemFailure: the container does not start.
        """
        if self._tool.container(self.context.label) is None:
            return self._run()
        self._tool.tell("stop", "--time=0", self.context.label)
        return self._reach(["podman", "start", "--attach", "--interactive", self.context.label])

    def _run(self) -> Host:
        self._make_folder()
        for note in (ID_NOTE, PID_NOTE):
            self.context.host_machine().remove_tree(f"{self.context.folder}/{note}")
        return self._reach(self._tool.words(*run_argv(self._running())))

    def _reach(self, argv: list[str]) -> Host:
        host_machine = self.context.host_machine()
        try:
            agent = host_machine.open_agent(host_machine.way(argv))
        except EngineError as error:
            if error.slug != "agent-is-lost":
                raise
            raise not_started(self.context.label, error.message) from error
        host = Host(INSIDE + self.context.label, agent, self.pipe, ENGINE)
        host.make_directory(SERVICE_FOLDER)
        return host

    def _running(self) -> Running:
        network = self.context.network
        if network is None or self._interface is None:
            joined = HOST_NETWORK
        else:
            joined = f"ns:{network.namespace(self._interface)}"
        if self._image is None:
            raise SystemFailure("not_ready", f"the container {self.context.label} is not up")
        return Running(
            name=self.context.label,
            mark=self._mark,
            image=self._image,
            engine=self.context.host_machine().engine,
            notes=self.context.folder,
            network=joined,
            settings=self._settings,
            limits=self._tool.limits,
            volume=self._volume,
            with_disks=bool(self.context.spec.disks) and not self._tool.info.rootless,
        )

    @property
    def _volume(self) -> str | None:
        """The host_machine's folder that stands for the service's, if the study asks for one."""
        asked = self._settings.storage == "volume"
        return f"{self.context.folder}/volume" if asked else None

    def _made_anew(self) -> dict[str, str]:
        """Removes the container and what it wrote, without waiting for anything in it.

        What shows that the new one is another, and empty, is read from Podman's notes and from
        the kernel: to ask Podman takes a third of the time of a reset.

        Raises:
            SystemFailure: ``reset_not_proved``.
        """
        host_machine, before = self.context.host_machine(), self._note(ID_NOTE)
        self._tool.tell("rm", "--force", "--time=0", "--volumes", self.context.label)
        self._close_agent()
        self._seen = None
        self._host = self._run()
        return prove_new(
            host_machine, self.context.label, before, self._note(ID_NOTE), self._note(PID_NOTE)
        )

    def _note(self, name: str) -> str:
        return self.context.host_machine().read_file(f"{self.context.folder}/{name}").strip()

    def _make_folder(self) -> None:
        if self._volume is not None:
            self.context.host_machine().remove_tree(self._volume)
            self.context.host_machine().make_directory(self._volume)

    def _container(self) -> Container:
        found = self._tool.container(self.context.label)
        if found is None:
            self.host()
            found = self._tool.container(self.context.label)
        if found is None:
            raise SystemFailure("not_ready", f"the container {self.context.label} is gone")
        self._seen = found
        return found

    def _refuse_taken_name(self) -> None:
        name = self.context.label
        if self._tool.container(name) is not None:
            raise SystemFailure(
                "name_taken",
                f"on {self.context.host_machine().name}: there is a container {name} already",
                "it was not touched; if a run left it, `steelyard restore` removes it",
            )

    def _show(self, device: str) -> None:
        """Makes the node of a device inside, as it is on the host."""
        host_machine = self.context.host_machine()
        major, minor = tell(host_machine, ["stat", "--format=%Hr %Lr", device]).split()
        tell(host_machine, ["mknod", self._from_outside(device), "b", major, minor])

    def _from_outside(self, path: str) -> str:
        return f"/proc/{self._container().pid}/root{path}"

    def _close_agent(self) -> None:
        host, self._host = self._host, None
        if host is not None:
            with contextlib.suppress(EngineError):
                host.close()
