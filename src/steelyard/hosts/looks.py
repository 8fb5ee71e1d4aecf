"""Which commands only look at a machine: these, and no others, are run when a study is rehearsed.

A command that is not known to only look counts as a change: it is listed, and not run.
"""

from __future__ import annotations

from collections.abc import Sequence

_SCRIPTS: set[str] = set()
_PROGRAMS = frozenset({
    "blkid", "cat", "du", "find", "id", "ls", "nproc", "ps", "readlink", "realpath", "sha256sum",
    "stat", "tail", "test",
})  # fmt: skip
"""Those that only look with whatever words this package gives them but ``_CHANGING``."""
_CHANGING = frozenset({"-exec", "-delete", "-execdir", "-ok"})
_BEGINNINGS: tuple[tuple[str, ...], ...] = (
    ("blockdev", "--getsize64"),
    ("ip", "-V"),
    ("ip", "-json", "-4", "route", "show"),
    ("losetup", "--list"),
    ("mdadm", "--detail"),
    ("modprobe", "-n"),
    ("nsenter", "-V"),
    ("podman", "container", "inspect"),
    ("podman", "image", "exists"),
    ("podman", "image", "inspect"),
    ("podman", "images"),
    ("podman", "info"),
    ("podman", "inspect"),
    ("qemu-img", "info"),
    ("qemu-img", "map"),
    ("systemd-nspawn", "--version"),
    ("tuned-adm", "active"),
    ("tuned-adm", "list"),
    ("tuned-adm", "verify"),
    ("unshare", "--net"),
)


def looking(script: str) -> str:
    """Declares a script for ``sh -c`` that changes nothing; returns it."""
    _SCRIPTS.add(script)
    return script


def only_looks(argv: Sequence[str]) -> bool:
    """Whether a command of this package's own changes nothing.

    Words that a study or a catalogue file gives are not to be asked about.
    """
    if not argv:
        return False
    if tuple(argv[:2]) == ("sh", "-c"):
        return len(argv) > 2 and argv[2] in _SCRIPTS
    if argv[0] in _PROGRAMS:
        return _CHANGING.isdisjoint(argv)
    return any(tuple(argv[: len(words)]) == words for words in _BEGINNINGS)
