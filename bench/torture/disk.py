"""A disk that loses power: what was not synced is gone, as after a cut of the current.

The results of a case lie on an ext4 of their own, on a loop device. Nothing but a sync makes its
kernel write: the journal is committed every fifteen minutes, and no case takes so long. A cut is a
copy of what has reached the backing file while all processes of the case are stopped. They are then
killed, and the copy is mounted in place of the disk: its journal is replayed.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

TOOLS = ("losetup", "mkfs.ext4", "mount", "umount", "cp")
_SIZE_BYTES = 256 << 20
_OPTIONS = "loop,commit=900,data=writeback,noauto_da_alloc"
"""As hostile as ext4 can be: names may be durable before what they name."""


class Disk:
    """Mounted at ``place``, its backing files beside the folder that this is in."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self._file = place.parent.with_suffix(".disk")
        with self._file.open("wb") as file:
            file.truncate(_SIZE_BYTES)
        _run("mkfs.ext4", "-q", "-F", str(self._file))
        place.mkdir()
        self._mount()
        (place / "lost+found").rmdir()
        self.sync()

    def sync(self) -> None:
        """All that is on it now stays."""
        _run("sync", "--file-system", str(self.place))

    def copy(self) -> None:
        """What has reached the disk; nobody may be writing."""
        _run("cp", "--sparse=always", str(self._file), str(self._copy))

    def come_back(self) -> None:
        """As it was copied."""
        _run("umount", str(self.place))
        self._copy.rename(self._file)
        self._mount()

    def close(self) -> None:
        """It is gone with what is on it."""
        _run("umount", str(self.place))
        self._file.unlink()

    @property
    def _copy(self) -> Path:
        return self._file.with_suffix(".copy")

    def _mount(self) -> None:
        _run("mount", "-o", _OPTIONS, str(self._file), str(self.place))


def _run(*argv: str) -> None:
    subprocess.run(argv, check=True, stdin=subprocess.DEVNULL, env=os.environ | {"LC_ALL": "C"})
