"""Follows the ledger of a run: one ``stat`` a second, however many watch, and a read when it grew.

While no one watches, nothing is done.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path

from steelyard.errors import RecordError, SteelyardError
from steelyard.plan.budget import time_s
from steelyard.records.archive import Run, of_one_machine
from steelyard.records.attempt_folder import attempt_key
from steelyard.records.events import AttemptFinished
from steelyard.records.files.documents import parsed
from steelyard.records.files.migration import record_of_1
from steelyard.records.ledger_lines import read_alone
from steelyard.records.planned_study import study_of_run
from steelyard.records.schema import TrialRecord
from steelyard.records.sessions import plan_after
from steelyard.study.labels import Labels
from steelyard.study.model import Study
from steelyard.study.workload_study import study_of
from steelyard.web.live.cpu import cpu_of
from steelyard.web.live.progress import Landed, Progress
from steelyard.web.reading import MOST_FILE_BYTES, read_bounded, refused

EVERY_S = 1.0
QUIET_S = 15.0
"""After so long without a change a watcher is asked whether it is still there."""
_MOST_READ_BYTES = 64 * 2**20
_MOST_DAMAGED = 20


class Follower:
    """One run, read as it grows. ``look`` is called from one thread at a time."""

    def __init__(self, path: Path) -> None:
        self.run = Run(path)
        self.study: Study | None = None
        self.labels = Labels()
        self.progress = Progress(None, None)
        self._offset = self._lines = 0

    def look(self) -> bool:
        """Reads what came since the last look; whether there was anything.

        Raises:
            SteelyardError: study or plan cannot be read, or the run is one of several machines.
            OSError: the ledger cannot be read.
        """
        of_one_machine(self.run)
        size = self.run.ledger_path.lstat().st_size
        if self.study is None or size < self._offset:
            self._begin()
        if size == self._offset:
            return False
        data = self._grown(size)
        whole, _, _torn = data.rpartition(b"\n")
        if not whole:
            return False
        self._offset += len(whole) + 1
        for line in whole.split(b"\n"):
            self._lines += 1
            self._take(line)
        return True

    def _begin(self) -> None:
        """From the first line: at the start, and when a torn line was cut off."""
        for path in (self.run.study_path, self.run.path / "plan.json", self.run.path / "run.json"):
            read_bounded(path, MOST_FILE_BYTES)
        self.study = study_of_run(self.run)
        self.labels = Labels.of(self.study)
        planned = self.run.planned()
        self.progress = Progress(planned, time_s(self.study, planned))
        self._offset = self._lines = 0

    def _grown(self, size: int) -> bytes:
        """What follows the offset; a long ledger in several looks."""
        number = os.open(self.run.ledger_path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            data = os.pread(number, min(size - self._offset, _MOST_READ_BYTES), self._offset)
        finally:
            os.close(number)
        if len(data) == _MOST_READ_BYTES and b"\n" not in data:
            raise refused(self.run.ledger_path, "has a line that is too long to be an event")
        return data

    def _take(self, line: bytes) -> None:
        try:
            event = read_alone(self.run.ledger_path, self._lines, line)
        except RecordError:
            if len(self.progress.damaged_lines) < _MOST_DAMAGED:
                self.progress.damaged_lines.append(self._lines)
            return
        self.progress.add(event)
        if isinstance(event, AttemptFinished):
            self._land(event)
        elif self.progress.plan is not None:
            self.progress.plan = plan_after(self.progress.plan, [event])

    def _land(self, event: AttemptFinished) -> None:
        folder = self.run.path / "trials" / attempt_key(event.trial, event.attempt)
        path = folder / "record.json"
        try:
            record = parsed(read_bounded(path, MOST_FILE_BYTES), path, TrialRecord, record_of_1)
        except (OSError, SteelyardError):
            return  # the ledger says that it ended; a report says what is wrong with its record
        self.progress.land(self._landed(record, folder), record)

    def _landed(self, record: TrialRecord, folder: Path) -> Landed:
        assert self.study is not None  # noqa: S101 - read before the first line
        primary = study_of(self.study, record.cell.conditions).primary
        return Landed(
            trial=record.trial,
            attempt=record.attempt,
            visit=record.visit,
            cell=record.cell,
            outcome=record.outcome.value,
            response=primary.label,
            unit=primary.unit,
            value=record.value(primary.name),
            warnings=tuple(dict.fromkeys(warning.kind for warning in record.warnings)),
            cpu=cpu_of(record, folder),
            generator_ratio=None if record.calibration is None else record.calibration.ratio,
        )


class Shared:
    """A follower, and those who wait for what it reads."""

    def __init__(self, path: Path) -> None:
        self.follower = Follower(path)
        self.watchers = 0
        self.version = 0
        self.error: SteelyardError | OSError | None = None
        self.changed = asyncio.Condition()
        self.task: asyncio.Task[None] | None = None

    async def look(self) -> None:
        """Once, now."""
        try:
            grew = await asyncio.to_thread(self.follower.look)
            self.error = None
        except (SteelyardError, OSError) as error:
            grew, self.error = self.error is None, error
        if grew:
            async with self.changed:
                self.version += 1
                self.changed.notify_all()

    async def changes_from(self, seen: int, within_s: float) -> bool:
        """Waits for another version than ``seen``; whether it came."""
        async with self.changed:
            wait = self.changed.wait_for(lambda: self.version != seen)
            try:
                await asyncio.wait_for(wait, within_s)
            except TimeoutError:
                return False
            return True

    async def keep_looking(self) -> None:
        while self.watchers:
            await self.look()
            await asyncio.sleep(EVERY_S)


class Followers:
    """The runs that are watched, each followed once."""

    def __init__(self) -> None:
        self._shared: dict[Path, Shared] = {}
        self._closed = False

    async def close(self) -> None:
        """Ends every watch, so that the server can end."""
        self._closed = True
        for shared in list(self._shared.values()):
            async with shared.changed:
                shared.version += 1
                shared.changed.notify_all()

    async def now(self, path: Path) -> Shared:
        """How a run stands, looked at once unless it is followed already."""
        shared = self._shared.get(path)
        if shared is None:
            shared = Shared(path)
            await shared.look()
        return shared

    async def watch(self, path: Path) -> AsyncIterator[Shared | None]:
        """The run now and after each change; ``None`` where there was none for a while."""
        shared = self._shared.setdefault(path, Shared(path))
        shared.watchers += 1
        if shared.task is None:
            shared.task = asyncio.create_task(shared.keep_looking())
        try:
            seen = -1
            while not self._closed:
                if shared.version != seen and (shared.version or shared.error):
                    seen = shared.version
                    yield shared
                if not await shared.changes_from(seen, QUIET_S):
                    yield None
        finally:
            shared.watchers -= 1
            if not shared.watchers:
                self._shared.pop(path, None)
                if shared.task is not None:
                    shared.task.cancel()
