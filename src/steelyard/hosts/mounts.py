"""The table of mounts of a machine, read from ``/proc/self/mountinfo`` (proc(5))."""

from __future__ import annotations

import re
from dataclasses import dataclass

MOUNT_TABLE = "/proc/self/mountinfo"
_ESCAPE = re.compile(r"\\([0-7]{3})")


@dataclass(frozen=True)
class Mount:
    """One mount. ``options`` are those of the mount and of its filesystem, in this order.

    ``device`` is the number of the block device as ``major:minor``, ``root`` the folder within the
    filesystem that is mounted.
    """

    mount_point: str
    root: str
    device: str
    filesystem: str
    source: str
    options: tuple[str, ...]


def read_mounts(text: str) -> list[Mount]:
    """All mounts in the order they were made; of several on one place the last is seen."""
    return [_read(line) for line in text.splitlines() if " - " in line]


def mounted_at(text: str, path: str) -> Mount | None:
    """What is seen at ``path``, if it is a mount point."""
    found = [mount for mount in read_mounts(text) if mount.mount_point == path]
    return found[-1] if found else None


def mount_of(text: str, path: str) -> Mount | None:
    """The mount in which ``path`` lies: of the longest that lead there, the last."""
    leading = [m for m in read_mounts(text) if _leads(m.mount_point, path)]
    return max(reversed(leading), key=lambda mount: len(mount.mount_point), default=None)


def _leads(mount_point: str, path: str) -> bool:
    return path == mount_point or path.startswith(mount_point.rstrip("/") + "/")


def mounts_below(text: str, path: str) -> list[Mount]:
    """What is mounted at ``path`` or below it."""
    inside = path.rstrip("/") + "/"
    return [
        m for m in read_mounts(text) if m.mount_point == path or m.mount_point.startswith(inside)
    ]


def _read(line: str) -> Mount:
    first, _, second = line.partition(" - ")
    fields, rest = first.split(" "), second.split(" ")
    options = [*fields[5].split(","), *rest[2].split(",")]
    return Mount(
        mount_point=_plain(fields[4]),
        root=_plain(fields[3]),
        device=fields[2],
        filesystem=rest[0],
        source=_plain(rest[1]),
        options=tuple(dict.fromkeys(options)),
    )


def _plain(text: str) -> str:
    return _ESCAPE.sub(lambda match: chr(int(match[1], 8)), text)
