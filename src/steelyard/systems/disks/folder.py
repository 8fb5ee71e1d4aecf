"""A folder that is there already in place of a disk: never formatted, and left as it was.

What a trial writes goes into a folder of its own below it, whose removal is in the ledger before
it is made. Nothing else of the folder is read or touched.
"""

from __future__ import annotations

from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.host import Host
from steelyard.hosts.mounts import MOUNT_TABLE, mount_of
from steelyard.hosts.tool import attempt
from steelyard.hosts.undo.actions.files import RemoveTree
from steelyard.hosts.undo.log import UndoLog
from steelyard.study.declared.folders import system_folder
from steelyard.study.platform.settings import DiskSettings
from steelyard.systems.disks.prepare import FOLDER, DiskPlan, Prepared
from steelyard.systems.settings.applied import Place
from steelyard.systems.settings.changes import Changes
from steelyard.units import format_bytes


def refuse_unusable(host: Host, disk: DiskSettings) -> str:
    """The folder of a disk by its real path, without links.

    Raises:
        SystemFailure: ``not_supported``: it is not there, no folder, or the system's own;
            ``no_rights``: it cannot be written to; ``no_space``: less is free than is needed.
    """
    folder, needed_bytes = str(disk.folder), disk.size_bytes
    if not host.path_facts(folder).exists or attempt(host, ["test", "-d", folder]).exit_code:
        message = f"on {host.name}: there is no folder {folder}"
        raise SystemFailure("not_supported", message, "mount the disk, or name another folder")
    real = attempt(host, ["realpath", "--", folder]).stdout.strip() or folder
    own = system_folder(real)
    if own is not None:
        message = f"on {host.name}: {folder} is {real}, in the system's own folder {own}"
        raise SystemFailure("not_supported", message, "name a folder for data, such as /mnt/usb")
    if attempt(host, ["test", "-w", real]).exit_code:
        message = f"on {host.name}: {folder} cannot be written to"
        raise SystemFailure("no_rights", message, "mount it read-write, or run as its owner")
    free_bytes = host.path_facts(real).free_bytes
    if free_bytes is not None and free_bytes < needed_bytes:
        message = f"on {host.name}: {folder} has {format_bytes(free_bytes)} free, "
        message += f"not {format_bytes(needed_bytes)}"
        raise SystemFailure("no_space", message, "make room, or ask for less `size`")
    return real


def use_folder(host: Host, name: str, disk: DiskSettings, own_name: str, undo: UndoLog) -> Prepared:
    """Makes the trial's own folder ``own_name`` below that of the disk that a study calls ``name``.

    Raises:
        SystemFailure: as :func:`refuse_unusable`; ``name_taken``: that name is there already.
    """
    real = refuse_unusable(host, disk)
    own = f"{real}/{own_name}"
    if host.path_facts(own).exists:
        message = f"on {host.name}: there is {own} already"
        raise SystemFailure("name_taken", message, "it was not touched; move it, or remove it")
    changes = Changes(host, undo, Place(name, own))
    changes.plan(RemoveTree(own))
    try:
        host.make_directory(own)
    except Exception:
        changes.undo()
        raise
    seen = mount_of(host.read_file(MOUNT_TABLE), real)
    source = seen.source if seen is not None else "not told"
    facts = {
        "folder": real,
        "device": source,
        "filesystem": seen.filesystem if seen is not None else "not told",
        "mounted_with": ",".join(seen.options) if seen is not None else "not told",
    }
    named = {f"disks.{name}.{key}": value for key, value in facts.items()}
    placed = DiskPlan(name, own, layout=FOLDER, filesystem=facts["filesystem"])
    return Prepared(placed, source, (), tuple(changes.made), named)
