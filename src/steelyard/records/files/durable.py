"""Writing that survives a power cut: a file or folder is there whole, or not at all."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

NEW = ".new-"
"""Begins the name of what is not whole yet."""


def sync_folder(folder: Path) -> None:
    """Makes the names in ``folder`` durable."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def make_folders(folder: Path) -> None:
    """Makes a folder and those above it, so that a power cut does not take them away again."""
    if folder.is_dir():
        return
    make_folders(folder.parent)
    folder.mkdir(exist_ok=True)
    sync_folder(folder.parent)


def write_file(path: Path, data: bytes) -> None:
    """Writes and syncs a file inside a folder that no one else sees yet; its owner's alone."""
    with path.open("xb") as file:
        os.fchmod(file.fileno(), 0o600)
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def file_appears(path: Path, data: bytes) -> None:
    """A file takes its name in one synced step.

    A crash leaves ``.new-NAME``, which the next call for the same name replaces, and
    :func:`clear_unfinished_files`.
    """
    temporary = path.with_name(NEW + path.name)
    temporary.unlink(missing_ok=True)
    try:
        write_file(temporary, data)
        temporary.rename(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


@contextmanager
def folder_appears(folder: Path) -> Iterator[Path]:
    """Yields a hidden folder to fill; on leaving it takes its name in one synced step.

    An exception leaves nothing behind. A crash leaves ``.new-NAME``, which the next call for the
    same name clears, and :func:`clear_unfinished`.

    Raises:
        FileExistsError: ``folder`` is there already.
    """
    if folder.exists():
        raise FileExistsError(folder)
    temporary = folder.with_name(NEW + folder.name)
    _clear(temporary)
    temporary.mkdir(parents=True)
    held = _hold(temporary)
    try:
        yield temporary
        sync_folder(temporary)
        temporary.rename(folder)
    except BaseException:
        _clear(temporary)
        raise
    finally:
        os.close(held)
    sync_folder(folder.parent)


def clear_unfinished(folder: Path) -> None:
    """Removes what crashes left of folders that were to appear in ``folder``.

    One that another process is filling is locked by it and stays.
    """
    for left in folder.glob(NEW + "*"):
        if left.is_dir() and not left.is_symlink():
            try:
                held = _hold(left)
            except OSError:
                continue
            try:
                _clear(left)
            finally:
                os.close(held)


def clear_unfinished_files(folder: Path) -> None:
    """Removes what crashes left of files that were to appear in ``folder``.

    Only for who is alone in writing there: a file is not locked as a folder is.
    """
    for left in folder.glob(NEW + "*"):
        if left.is_file() and not left.is_symlink():
            left.unlink()


def _hold(folder: Path) -> int:
    held = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(held)
        raise
    return held


def _clear(path: Path) -> None:
    """Removes a file, a link, or a folder with all in it; what a link leads to is not touched."""
    if path.is_symlink() or path.is_file():
        path.unlink()
    elif path.is_dir():
        for child in path.iterdir():
            _clear(child)
        path.rmdir()
    elif path.exists():  # a pipe or a socket
        path.unlink()
