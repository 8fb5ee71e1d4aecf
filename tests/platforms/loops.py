"""Loop devices for a test, gone at its end whatever became of it."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

RELEASE = (
    "grep -E '^/dev/(loop|md|nbd)' /proc/mounts | "
    'while read -r _ at _; do umount "$at" 2>/dev/null; done; '
)
"""Shell words of a mount namespace of one's own: disks of other tests are not held in it."""


def said(*words: str | Path, check: bool = True) -> str:
    """What a tool said."""
    argv = [str(word) for word in words]
    return subprocess.run(argv, check=check, capture_output=True, text=True).stdout.strip()


@dataclass(frozen=True)
class LoopDevice:
    """A loop device over a file."""

    device: str
    file: Path

    @property
    def name(self) -> str:
        return Path(self.device).name

    def mounted(self, place: Path) -> Path:
        """The device with a filesystem, mounted."""
        said("mkfs.ext4", "-q", self.device)
        place.mkdir()
        said("mount", self.device, place)
        return place


@contextmanager
def loop_device(file: Path, *, size_mib: int) -> Iterator[LoopDevice]:
    """A device over a new file; what is mounted from it is unmounted, and it is detached."""
    with file.open("wb") as empty:
        empty.truncate(size_mib * 2**20)
    made = LoopDevice(said("losetup", "--find", "--show", file), file)
    try:
        yield made
    finally:
        for place in said("findmnt", "-rno", "TARGET", "-S", made.device, check=False).splitlines():
            said("umount", place)
        for line in said("losetup", "--list", "--noheadings", "-O", "NAME,BACK-FILE").splitlines():
            device, _, behind = line.partition(" ")
            if behind.strip().startswith(str(file)):
                said("losetup", "--detach", device)
