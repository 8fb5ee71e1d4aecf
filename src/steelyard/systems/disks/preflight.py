"""Whether a disk of a system can be made on its machine: asked before one is."""

from __future__ import annotations

from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.host import Host
from steelyard.hosts.site import look_around
from steelyard.study.declared.machine import filesystems
from steelyard.study.platform.settings import DiskSettings
from steelyard.systems.disks.arrays import LEVELS
from steelyard.systems.settings.preflight import refuse_unknown_module
from steelyard.units import format_bytes


def refuse_what_cannot_be_made(host: Host, disk: DiskSettings, folder: str) -> None:
    """Looks at the kernel, the tools, the rights, and the room in ``folder``.

    Raises:
        SystemFailure: ``not_supported``, ``tool_missing``, ``no_rights``, ``no_space``.
    """
    _needs_filesystem(host, disk.filesystem)
    made = filesystems()[disk.filesystem]
    array = ("mdadm",) if disk.layout in LEVELS else ()
    wanted = ["losetup", "mount", made.make[0], *array]
    wanted += [] if disk.check == "none" else [made.check[0]]
    packages = {name: (*words, *array) for name, words in made.packages.items()}
    look_around(host, f"a disk with {disk.filesystem}", wanted, packages, root=True)
    free_bytes = host.path_facts(folder).free_bytes
    if free_bytes is not None and free_bytes < (disk.size or 0):
        message = f"on {host.name}: {folder} has {format_bytes(free_bytes)} free, "
        message += f"and the disk {format_bytes(disk.size or 0)}"
        raise SystemFailure("no_space", message, "make room, or ask for a smaller disk")


def _needs_filesystem(host: Host, name: str) -> None:
    if name in host.read_file("/proc/filesystems").split():
        return
    try:
        refuse_unknown_module(host, name)
    except SystemFailure as failure:
        message = f"on {host.name}: {name} is not available here: the kernel does not know it"
        hint = "take another filesystem, or a guest whose kernel has it"
        raise SystemFailure("not_supported", message, hint) from failure
