"""Writing that survives a power cut: a file or folder is there whole, or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def sync_folder(folder: Path) -> None:
    """Makes the names in ``folder`` durable."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_file(path: Path, data: bytes) -> None:
    """Writes and syncs a file inside a folder that no one else sees yet."""
    with path.open("xb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


@contextmanager
def folder_appears(folder: Path) -> Iterator[Path]:
    """Yields a hidden folder to fill; on leaving it takes its name in one synced step.

    An exception leaves nothing behind. A crash leaves ``.new-NAME``, which the next call for the
    same name clears.

    Raises:
        FileExistsError: ``folder`` is there already.
    """
    if folder.exists():
        raise FileExistsError(folder)
    temporary = folder.with_name(f".new-{folder.name}")
    _clear(temporary)
    temporary.mkdir(parents=True)
    try:
        yield temporary
        sync_folder(temporary)
        temporary.rename(folder)
    except BaseException:
        _clear(temporary)
        raise
    sync_folder(folder.parent)


def _clear(folder: Path) -> None:
    if not folder.exists():
        return
    for child in folder.iterdir():
        if child.is_dir() and not child.is_symlink():
            _clear(child)
        else:
            child.unlink()
    folder.rmdir()
