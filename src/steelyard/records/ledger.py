"""The ledger of a run: one event a line, appended and synced before anything goes on.

A line that was torn by a crash is the last one and ends without a newline: reading leaves it
out, opening for writing cuts it off and records that as an event. A line that did not fit on the
disk is cut off at once. Earlier versions left it, and the next event stands behind it on the same
line: reading takes that event.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from steelyard.errors import RecordError
from steelyard.records.events import Event, LedgerRepaired
from steelyard.records.ledger_lines import line_of, read_lines


def read_ledger(path: Path, of: Sequence[str] = ()) -> list[Event]:
    """All whole lines, in order; ``of``: those of events of these names.

    Raises:
        RecordError: it is no file; a whole line is not an event, or not the one that was written.
    """
    if not path.exists():
        return []
    _refuse_no_file(path)
    events, _ = read_lines(path, _whole_lines(path.read_bytes()), of)
    return events


def _refuse_no_file(path: Path) -> None:
    """A folder cannot be read, and a pipe would be waited for."""
    if path.exists() and not path.is_file():
        raise RecordError(
            f"{path} is a {'folder' if path.is_dir() else 'pipe or a device'}, where a ledger is a "
            "file",
            hint="restore it from a backup of the run",
            slug="ledger-is-damaged",
        )


def _whole_lines(data: bytes) -> list[bytes]:
    """Without a last one that has no end."""
    whole, newline, _torn = data.rpartition(b"\n")
    return whole.split(b"\n") if newline else []


def is_being_written(path: Path) -> bool:
    """Whether a controller of this machine holds the ledger at ``path``, as far as can be seen."""
    try:
        with path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


_OPEN = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW


class Ledger:
    """The open ledger of one run; holds a lock, so that one controller at a time writes.

    ``recorded`` is called with each event once it is on stable storage.
    """

    def __init__(self, path: Path, recorded: Callable[[Event], None] = lambda _: None) -> None:
        self._path = path
        self._recorded = recorded
        _refuse_no_file(path)
        self._file = os.open(path, _OPEN, 0o600)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(self._file)
            raise RecordError(
                f"{path.parent} is being written by another steelyard",
                hint="wait until it has ended, or end it with Ctrl-C",
                slug="run-is-in-use",
            ) from error
        self._end = self._crc = 0
        self._closed_by: OSError | None = None
        try:
            self._cut_torn_line()
        except BaseException:
            os.close(self._file)
            raise

    def append(self, event: Event) -> None:
        """Writes one event; returns when it is on stable storage.

        Raises:
            OSError: the disk is full or gone; the event is not recorded, and where its line could
                not be cut off again, or may not have reached the disk, none is from now on.
        """
        if self._closed_by is not None:
            raise OSError(errno.EIO, f"an earlier event was lost: {self._closed_by.strerror}")
        line, crc = line_of(event, self._crc)
        self._write(line)
        self._sync()
        self._end += len(line)
        self._crc = crc
        self._recorded(event)

    def _write(self, line: bytes) -> None:
        view = memoryview(line)
        try:
            while view:
                view = view[os.write(self._file, view) :]
        except OSError:
            self._cut_back()
            raise

    def _sync(self) -> None:
        """After a sync that failed the kernel may call pages written that are not."""
        try:
            os.fsync(self._file)
        except OSError as error:
            self._cut_back()
            self._closed_by = error
            raise

    def _cut_back(self) -> None:
        try:
            os.ftruncate(self._file, self._end)
            os.lseek(self._file, self._end, os.SEEK_SET)
        except OSError as error:
            self._closed_by = error

    def events(self) -> list[Event]:
        """All events so far."""
        return read_ledger(self._path)

    def close(self) -> None:
        """Releases the lock."""
        os.close(self._file)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _cut_torn_line(self) -> None:
        data = self._path.read_bytes()
        whole = data.rfind(b"\n") + 1
        os.ftruncate(self._file, whole)
        self._end = os.lseek(self._file, whole, os.SEEK_SET)
        _, self._crc = read_lines(self._path, _whole_lines(data))
        if whole != len(data):
            self.append(LedgerRepaired(bytes_cut=len(data) - whole))


def refuse_foreign_run(run: Path) -> None:
    """Before the ledger of a run is acted on.

    Raises:
        RecordError: its folder, its trials or its ledger belong to another user, can be written by
            all, or are links.
    """
    for path in (run / "ledger.jsonl", run / "trials", run):
        try:
            found = path.lstat()
        except FileNotFoundError:
            continue
        if path != run and stat.S_ISLNK(found.st_mode):
            raise _foreign(path, "is a link")
        if found.st_uid != os.geteuid():
            raise _foreign(path, f"belongs to the user with the number {found.st_uid}")
        if found.st_mode & stat.S_IWOTH and not stat.S_ISLNK(found.st_mode):
            raise _foreign(path, "can be written by every user")


def _foreign(path: Path, what: str) -> RecordError:
    return RecordError(
        f"{path} {what}: its ledger could change this machine in your name",
        hint="let the user whose run it is do it; if you trust all of it, make it yours with "
        "`chown -R` and `chmod -R o-w`. `steelyard report` reads it as it is",
        slug="run-of-another-user",
    )
