"""How files of a results folder are read: bounded, and never through a link that leads out."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path
from typing import BinaryIO

from steelyard.errors import RecordError

MOST_DOCUMENT_BYTES = 4 * 2**20
"""Of ``run.json``, which has one kilobyte."""
MOST_FILE_BYTES = 512 * 2**20
"""Of any file that a report is made from."""
_NAME = re.compile(r"[^/\0]+")
_NOT_A_FOLDER = "give the folder that holds a folder for each study, as `steelyard run` made it"


def results_folder(path: Path) -> Path:
    """The folder itself, with every link resolved.

    Raises:
        RecordError: it is not there, cannot be read, or is that of one run.
    """
    if not path.is_dir() or not os.access(path, os.R_OK | os.X_OK):
        raise RecordError(
            f"{path} is not a folder that can be read", hint=_NOT_A_FOLDER, slug="no-results"
        )
    if (path / "run.json").exists():
        raise RecordError(
            f"{path} is the folder of one run",
            hint=f"give the folder of all results: {path.absolute().parent.parent}",
            slug="no-results",
        )
    return path.resolve()


def read_bounded(path: Path, most_bytes: int = MOST_DOCUMENT_BYTES) -> bytes:
    """A whole regular file that is no link.

    Raises:
        RecordError: it is too large, a link, or no regular file.
        OSError: it cannot be read.
    """
    with _opened(path) as file:
        size = os.fstat(file.fileno()).st_size
        if size > most_bytes:
            raise refused(path, f"has {size:,} bytes; at most {most_bytes:,} are read")
        return file.read(most_bytes)


def refuse_large(path: Path, most_bytes: int) -> None:
    """Refuse a file that is too large, a link, or no regular file; the same errors."""
    with _opened(path) as file:
        size = os.fstat(file.fileno()).st_size
    if size > most_bytes:
        raise refused(path, f"has {size:,} bytes; at most {most_bytes:,} are read")


def read_tail(path: Path, bytes_at_most: int) -> bytes:
    """The last whole lines of a file, within so many bytes; the same errors."""
    with _opened(path) as file:
        size = os.fstat(file.fileno()).st_size
        start = max(0, size - bytes_at_most)
        data = os.pread(file.fileno(), bytes_at_most, start)
    if start:
        data = data.partition(b"\n")[2]
    return data.rpartition(b"\n")[0]


def inside(folder: Path, relative: str) -> Path | None:
    """The file or folder below ``folder``; ``None`` where the path leaves it, by itself or a link.

    ``folder`` is resolved already.
    """
    parts = relative.split("/") if relative else []
    if any(part in {"", ".", ".."} or not _NAME.fullmatch(part) for part in parts):
        return None
    try:
        found = folder.joinpath(*parts).resolve(strict=True)
    except (OSError, RuntimeError, ValueError):
        return None
    return found if found.is_relative_to(folder) else None


def refuse_unreadable(run: Path) -> None:
    """Refuse a run with a link in it, or a file that is too large to be judged.

    Raises:
        RecordError: there is one; it is named.
    """
    for place, folders, files in os.walk(run):
        for name in (*folders, *files):
            path = Path(place, name)
            status = path.lstat()
            if path.is_symlink():
                raise refused(path, "is a symbolic link, and links are not followed")
            if name in files and not stat.S_ISREG(status.st_mode):
                raise refused(path, "is not a regular file")
            if name in files and status.st_size > MOST_FILE_BYTES:
                raise refused(
                    path, f"has {status.st_size:,} bytes; at most {MOST_FILE_BYTES:,} are read"
                )


def refused(path: Path, why: str) -> RecordError:
    """The error of a file that is not read."""
    return RecordError(
        f"{path}: {why}",
        hint="steelyard wrote no such file: restore the run from a backup",
        slug="record-is-damaged",
    )


def _opened(path: Path) -> BinaryIO:
    """Without waiting for the writer of a pipe that somebody put there."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
    number = os.open(path, flags)
    if not stat.S_ISREG(os.fstat(number).st_mode):
        os.close(number)
        raise refused(path, "is not a regular file")
    return os.fdopen(number, "rb")
