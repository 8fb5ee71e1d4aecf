"""Disks of a system that shares its host's kernel: loop devices over files in its folder."""

from __future__ import annotations

from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.tool import tell
from steelyard.hosts.undo.actions.storage import DetachLoop
from steelyard.hosts.undo.log import PendingUndo
from steelyard.systems.platform import InstanceContext, RawDisk
from steelyard.units import format_bytes

_BUFFERED = frozenset({"writeback", "unsafe"})


class LoopDisks:
    """The loop devices of one instance, by the names of their disks."""

    def __init__(self, context: InstanceContext) -> None:
        self._ground = context
        self._made: dict[str, PendingUndo] = {}

    def make(self, disk: RawDisk) -> str:
        """An empty device of the size asked; ``cache: none`` passes the page cache beneath by.

        Raises:
            SystemFailure: ``not_supported``, ``no_space``, or ``losetup`` failed.
        """
        if disk.name in self._made:
            raise SystemFailure("name_taken", f"the disk {disk.name} is attached already")
        options = self._options(disk)
        host, backing = self._ground.host_machine(), self._backing(disk.name)
        if tell(host, ["id", "-u"]) != "0":
            message = f"on {host.name}: a loop device for the disk {disk.name} needs root"
            raise SystemFailure("not_supported", message, "run as root, or leave `disks` out")
        self._refuse_without_space(disk)
        host.make_directory(f"{self._ground.folder}/disks")
        self._made[disk.name] = self._ground.undo.plan(host.name, DetachLoop(backing))
        tell(host, ["rm", "-f", "--", backing])
        tell(host, ["truncate", f"--size={disk.size_bytes}", backing])
        return tell(host, ["losetup", "--find", "--show", *options, backing])

    def remove(self, name: str) -> None:
        """Detaches the device and removes its file."""
        host = self._ground.host_machine()
        self._ground.undo.apply(host, self._made[name])
        tell(host, ["rm", "-f", "--", self._backing(name)])
        del self._made[name]

    def remove_all(self) -> None:
        for name in list(self._made):
            self.remove(name)

    def _options(self, disk: RawDisk) -> list[str]:
        if disk.bus != "virtio":
            message = f"the disk {disk.name} is a loop device and has no bus {disk.bus}"
            raise SystemFailure("not_supported", message, "leave the bus out")
        if disk.cache == "none":
            return ["--direct-io=on"]
        if disk.cache in _BUFFERED:
            return []
        message = f"the disk {disk.name} is a loop device and has no cache mode {disk.cache}"
        raise SystemFailure("not_supported", message, "it has none, writeback and unsafe")

    def _backing(self, name: str) -> str:
        return f"{self._ground.folder}/disks/{name}.raw"

    def _refuse_without_space(self, disk: RawDisk) -> None:
        free_bytes = self._ground.host_machine().path_facts(self._ground.folder).free_bytes
        if free_bytes is not None and free_bytes < disk.size_bytes:
            message = f"{self._ground.folder} has {format_bytes(free_bytes)} free: too few for "
            message += f"{disk.name} of {format_bytes(disk.size_bytes)}"
            raise SystemFailure("no_space", message, "make room, or ask for a smaller disk")
