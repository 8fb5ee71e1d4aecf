"""Where data may be kept on its way to a disk, and letting go of it before a window."""

from __future__ import annotations

from steelyard.hosts.host import Host
from steelyard.hosts.kernel_values import shown
from steelyard.study.declared.machine import filesystems
from steelyard.systems.disks.prepare import Prepared

_NOT_KNOWN = "write cache not known"


def drop_caches(inside: Host, host_machine: Host) -> list[str]:
    """Writes what waits, then drops pages, entries and inodes: once for each kernel.

    Returns the names of the machines that did it; a container has its host's kernel.

    Raises:
        AgentRefusal: it may not (root alone may).
    """
    same_kernel = inside.boot_id is not None and inside.boot_id == host_machine.boot_id
    hosts = [host_machine] if same_kernel or inside is host_machine else [inside, host_machine]
    for host in hosts:
        host.drop_caches()
    return [host.name for host in hosts]


def caching_places(host: Host, prepared: Prepared) -> tuple[str, ...]:
    """Every place that may hold data of the filesystem, from the service outwards."""
    known = filesystems().get(prepared.plan.filesystem)
    keeps = "not known" if known is None else known.keeps
    places = ["page cache of the system", f"{prepared.plan.filesystem}: {keeps}"]
    if not prepared.members:
        places.append(f"{prepared.device}: {_NOT_KNOWN}")
    for disk in prepared.members:
        places.append(f"{disk.device}: {_write_cache(host, disk.device)}")
        places += [place for place in disk.caches if place not in places]
    return tuple(places)


def _write_cache(host: Host, device: str) -> str:
    path = f"/sys/block/{device.removeprefix('/dev/')}/queue/write_cache"
    if not host.path_facts(path).exists:
        return _NOT_KNOWN
    return f"{shown(host.read_file(path))} cache"
