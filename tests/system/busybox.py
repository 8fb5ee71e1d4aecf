"""A root filesystem of busybox alone."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

BUSYBOX = Path("/usr/bin/busybox")
TOOLS = ("sh", "sleep", "sha256sum", "true", "cat", "chmod", "mv")
FOLDERS = ("dev", "proc", "sys", "tmp", "var")


def write_tar(path: Path) -> None:
    """Of all a container needs that sleeps and is entered."""
    with tarfile.open(path, "w") as archive:
        for name in FOLDERS:
            folder = tarfile.TarInfo(name)
            folder.type, folder.mode = tarfile.DIRTYPE, 0o755
            archive.addfile(folder)
        archive.add(BUSYBOX, "bin/busybox")
        for tool in TOOLS:
            link = tarfile.TarInfo(f"bin/{tool}")
            link.type, link.linkname = tarfile.SYMTYPE, "busybox"
            archive.addfile(link, io.BytesIO())
