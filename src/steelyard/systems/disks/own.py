"""Nothing is written to a disk before it is sure that it is the one that was attached."""

from __future__ import annotations

from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.host import Host
from steelyard.hosts.tool import attempt, tell
from steelyard.hosts.undo.actions.storage import WipeSignatures, serial_of
from steelyard.systems.platform import AttachedDisk

_NOTHING_FOUND = 2
"""What ``blkid --probe`` ends with on a device without any signature (blkid(8))."""


def wipe_of(host: Host, disk: AttachedDisk) -> WipeSignatures | None:
    """What removes the signatures of a disk that is ours; ``None`` if no mark identifies it.

    A loop device is ours by the file behind it, any other by its serial number. A disk without one
    must be empty and of the size that was asked, or it is not touched.

    Raises:
        SystemFailure: ``name_taken``: it is another disk.
    """
    name = disk.device.removeprefix("/dev/")
    backing = f"/sys/block/{name}/loop/backing_file"
    if host.path_facts(backing).exists:
        return WipeSignatures(disk.device, backing_file=host.read_file(backing).strip())
    serial = serial_of(host, disk.device)
    if serial == disk.disk.name:
        return WipeSignatures(disk.device, serial=serial)
    if serial or not _empty_and_of_size(host, disk):
        raise SystemFailure(
            "name_taken",
            f"on {host.name}: {disk.device} is not the disk {disk.disk.name}: its serial number is "
            f"{serial or 'not told'}, and it is not an empty disk of {disk.disk.size_bytes} bytes",
            "nothing was written to it",
        )
    return None


def _empty_and_of_size(host: Host, disk: AttachedDisk) -> bool:
    size = tell(host, ["blockdev", "--getsize64", disk.device])
    probed = attempt(host, ["blkid", "--probe", disk.device])
    return size == str(disk.disk.size_bytes) and probed.exit_code == _NOTHING_FOUND
