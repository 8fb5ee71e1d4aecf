"""Options of a mounted filesystem, changed while it is in use."""

from __future__ import annotations

from collections.abc import Mapping

from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.host import Host
from steelyard.hosts.mounts import MOUNT_TABLE, Mount, mount_of
from steelyard.hosts.tool import tell
from steelyard.hosts.undo.actions.storage import Remount, remount_words
from steelyard.study.declared.setting import OFF
from steelyard.study.model import Level
from steelyard.systems.settings.applied import Applied
from steelyard.systems.settings.changes import Changes

ATIMES = ("noatime", "relatime", "strictatime")
BACK = {
    "nodiratime": "diratime",
    "lazytime": "nolazytime",
    "discard": "nodiscard",
    "nodelalloc": "delalloc",
    "nobarrier": "barrier",
    "barrier=0": "barrier=1",
    "noauto_da_alloc": "auto_da_alloc",
    "commit": "commit=0",
}
"""What takes an option back that was not there before, by option or by its name."""


def change_mount(changes: Changes, name: str, levels: Mapping[str, Level]) -> list[Applied]:
    """Options of the filesystem in which the system's folder lies.

    Raises:
        SystemFailure: ``not_supported``: an option that cannot be undone while mounted, or
            that the kernel does not show afterwards.
    """
    level, host = levels[""], changes.host
    if level == OFF:
        return [Applied(name, level)]
    mount = _mount(host, changes.place.folder)
    wanted = str(level).split(",")
    back = [_option_before(mount, option) for option in wanted]
    first = len(changes.made)
    changes.plan(Remount(mount.mount_point, mount.source, ",".join(back)))
    tell(host, remount_words(mount.mount_point, str(level)))
    now = _mount(host, changes.place.folder)
    missing = [option for option in wanted if not _shows(now, option)]
    if missing:
        raise SystemFailure(
            "not_supported",
            f"on {host.name}: {mount.mount_point} ({mount.filesystem}) did not take "
            f"`{','.join(missing)}`; it is mounted with {','.join(now.options)}",
        )
    facts = {name: f"{now.mount_point} ({now.filesystem}): {','.join(now.options)}"}
    return [Applied(name, level, tuple(changes.made[first:]), facts)]


def _mount(host: Host, path: str) -> Mount:
    mount = mount_of(host.read_file(MOUNT_TABLE), path)
    if mount is None:
        raise SystemFailure("not_supported", f"on {host.name}: {path} lies on no mount")
    return mount


def _shows(mount: Mount, option: str) -> bool:
    """The kernel shows no word for ``strictatime``, which is the lack of the other two."""
    if option == "strictatime":
        return not {"noatime", "relatime"} & set(mount.options)
    return option in mount.options


def _option_before(mount: Mount, option: str) -> str:
    """The option that gives back what held before ``option``."""
    key = option.partition("=")[0]
    if option in mount.options:
        return option
    if option in ATIMES:
        return next((atime for atime in ATIMES if atime in mount.options), "strictatime")
    valued = [before for before in mount.options if before.partition("=")[0] == key]
    if "=" in option and valued:
        return valued[0]
    back = BACK.get(option) or BACK.get(key)
    if back is not None:
        return back
    raise SystemFailure(
        "not_supported",
        f"`{option}` cannot be undone while {mount.mount_point} is mounted",
        f"those that can: {', '.join([*ATIMES, *BACK])}; others can be mount options of a disk "
        "that is attached",
    )
