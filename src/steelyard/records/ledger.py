"""The ledger of a run: one event a line, appended and synced before anything goes on.

A line that was torn by a crash is the last one and ends without a newline: reading leaves it
out, opening for writing cuts it off and records that as an event. A line that did not fit on the
disk is cut off at once. Earlier versions left it, and the next event stands behind it on the same
line: reading takes that event.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

from pydantic import ValidationError

from steelyard.errors import RecordError
from steelyard.records.events import Event, LedgerRepaired, event_adapter
from steelyard.records.migration import event_of_1

_BEGIN = b'{"event":"'
"""How every line begins; within a text of JSON its quotes are escaped."""


def read_ledger(path: Path) -> list[Event]:
    """All whole lines, in order.

    Raises:
        RecordError: a whole line is not an event: it was edited, or a later version wrote it.
    """
    if not path.exists():
        return []
    whole, _, _torn = path.read_bytes().rpartition(b"\n")
    lines = whole.split(b"\n") if whole else []
    return [_parse(path, number, line) for number, line in enumerate(lines, start=1)]


def _parse(path: Path, number: int, line: bytes) -> Event:
    try:
        return event_adapter().validate_json(line)
    except ValidationError as error:
        found = _event_of_version_1(line) or _event_behind_a_torn_one(line)
        if found is not None:
            return found
        first = error.errors()[0]
        place = ": ".join(map(str, first["loc"][-1:]))
        raise RecordError(
            f"{path}:{number}: this line of the ledger is not an event: "
            f"{place}{': ' if place else ''}{first['msg']}",
            hint="the ledger is never edited by hand; restore it from a backup of the run",
            slug="ledger-is-damaged",
        ) from error


def _event_of_version_1(line: bytes) -> Event | None:
    try:
        return event_adapter().validate_python(event_of_1(json.loads(line)))
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def _event_behind_a_torn_one(line: bytes) -> Event | None:
    """Of an event that was never whole on the disk nothing followed, so nothing is lost with it."""
    torn, begin, rest = line.rpartition(_BEGIN)
    if not torn or not torn.startswith(_BEGIN) or torn.rstrip().endswith(b"}"):
        return None
    try:
        return event_adapter().validate_json(begin + rest)
    except ValidationError:
        return None


class Ledger:
    """The open ledger of one run; holds a lock, so that one controller at a time writes.

    ``recorded`` is called with each event once it is on stable storage.
    """

    def __init__(self, path: Path, recorded: Callable[[Event], None] = lambda _: None) -> None:
        self._path = path
        self._recorded = recorded
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(self._file)
            raise RecordError(
                f"{path.parent} is being written by another steelyard",
                hint="wait until it has ended, or end it with Ctrl-C",
                slug="run-is-in-use",
            ) from error
        self._end = 0
        self._closed_by: OSError | None = None
        self._cut_torn_line()

    def append(self, event: Event) -> None:
        """Writes one event; returns when it is on stable storage.

        Raises:
            OSError: the disk is full or gone; the event is not recorded, and where its line could
                not be cut off again, or may not have reached the disk, none is from now on.
        """
        if self._closed_by is not None:
            raise OSError(errno.EIO, f"an earlier event was lost: {self._closed_by.strerror}")
        line = event.model_dump_json().encode() + b"\n"
        self._write(line)
        self._sync()
        self._end += len(line)
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
        if whole != len(data):
            self.append(LedgerRepaired(bytes_cut=len(data) - whole))
