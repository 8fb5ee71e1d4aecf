"""Which runs there are: each read once, and again only when its files have changed."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from steelyard.errors import RecordError
from steelyard.records.archive import OF_MACHINES, Run, RunFacts
from steelyard.records.files.checksums import SUMS, Sums, checked, sums_of
from steelyard.records.files.documents import parsed
from steelyard.records.files.migration import facts_of_1
from steelyard.web.reading import read_bounded
from steelyard.web.run_state import (
    RunState,
    locked_inodes,
    state_of,
    state_of_import,
    together,
    with_verdict,
)

_LEAST_S_BETWEEN_SCANS = 1.0
RUN, LEDGER = "run.json", "ledger.jsonl"
FINDINGS = "report/findings.json"
"""What an import has in place of a ledger, once its report is written; those of several machines
hold the verdict on all of these."""


_Status = tuple[int, int, int]
Stamp = tuple[_Status, _Status | None, _Status | None]
"""Time, size and inode of ``run.json``, of the ledger, and of the findings where they are read:
what changes when a run does."""


@dataclass(frozen=True)
class ListedRun:
    """One run as the list shows it."""

    key: str
    path: Path
    facts: RunFacts
    state: RunState
    running: bool

    @property
    def status(self) -> str:
        """``running``, how the last session ended, or ``open`` when none says so."""
        return "running" if self.running else self.state.ended or "open"


@dataclass(frozen=True)
class _Known:
    """What was read of a run; without ``run``, ``why`` says why."""

    stamp: Stamp
    run: ListedRun | None
    why: str = ""

    def is_held(self, locked: frozenset[int]) -> bool:
        """Whether a controller holds the ledger."""
        ledger = self.stamp[1]
        return ledger is not None and ledger[2] in locked


@dataclass(frozen=True)
class Skipped:
    """Something in the folder that is no run that can be read: where, and why."""

    place: str
    why: str


@dataclass(frozen=True)
class Listing:
    """What the folder holds at one moment. ``runs`` by ``STUDY/RUN``, newest first."""

    runs: dict[str, ListedRun]
    skipped: tuple[Skipped, ...]


class Index:
    """The runs of a results folder. Looking again costs two ``stat`` calls a run, and at most one
    look a second is taken, however many ask.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._known: dict[str, _Known] = {}
        self._listing = Listing({}, ())
        self._looked_s: float | None = None
        self._lock = threading.Lock()

    def listing(self) -> Listing:
        """The runs as they are now, or were up to a second ago."""
        with self._lock:
            now_s = time.monotonic()
            if self._looked_s is None or now_s - self._looked_s >= _LEAST_S_BETWEEN_SCANS:
                self._listing = self._look()
                self._looked_s = time.monotonic()
            return self._listing

    def run(self, key: str) -> ListedRun | None:
        """A run by its ``STUDY/RUN``; only what the index has found is ever opened."""
        return self.listing().runs.get(key)

    def forget_when(self) -> None:
        """The next listing looks again, however soon."""
        self._looked_s = None

    def known(self, key: str) -> ListedRun | None:
        """The same as of the last look, and whether it is running as of now; no folder is read."""
        found = self._listing.runs.get(key)
        known = self._known.get(key)
        if found is None or known is None:
            return None
        return replace(found, running=known.is_held(locked_inodes()))

    def _look(self) -> Listing:
        runs: list[ListedRun] = []
        skipped: list[Skipped] = []
        known, locked = {}, locked_inodes()
        for key, path, problem in _places(self.folder, skipped):
            stamp = None if problem else _stamp(path)
            if stamp is None:
                skipped.append(Skipped(key, problem or "is not a run: it has no run.json"))
                continue
            entry = self._known.get(key)
            if entry is None or entry.stamp != stamp:
                entry = _read(key, Path(path), stamp)
            known[key] = entry
            run = entry.run
            if run is None:
                skipped.append(Skipped(key, entry.why))
            elif run.state.ended is None and entry.is_held(locked):
                runs.append(replace(run, running=True))
            else:
                runs.append(run)
        self._known = known
        runs.sort(key=lambda run: run.key)
        runs.sort(key=lambda run: run.facts.created_unix_ns, reverse=True)
        return Listing({run.key: run for run in runs}, tuple(skipped))


def _places(folder: Path, skipped: list[Skipped]) -> Iterator[tuple[str, str, str | None]]:
    """Key and path of each folder that a run may be in; of what is no folder, what it is."""
    for study in _children(str(folder), "", skipped):
        if not study.is_dir(follow_symlinks=False):
            yield study.name, study.path, _not_a_folder(study)
            continue
        for run in _children(study.path, study.name, skipped):
            whole = run.is_dir(follow_symlinks=False)
            yield f"{study.name}/{run.name}", run.path, None if whole else _not_a_folder(run)


def _children(folder: str, key: str, skipped: list[Skipped]) -> list[os.DirEntry[str]]:
    """Without drafts, which appear by rename when they are whole."""
    try:
        with os.scandir(folder) as found:
            return [each for each in found if not each.name.startswith(".")]
    except OSError as error:
        skipped.append(Skipped(key or folder, f"cannot be read: {error.strerror}"))
        return []


def _not_a_folder(entry: os.DirEntry[str]) -> str:
    if entry.is_symlink():
        return "is a symbolic link, and links are not followed"
    return "is a file where the folder of a run is expected"


def _stamp(path: str) -> Stamp | None:
    run = _status(f"{path}/{RUN}")
    ledgers = ledgers_of(Path(path))
    newest = max(filter(None, (_status(str(each)) for each in ledgers)), default=None)
    alone = newest is not None and ledgers == [Path(path) / LEDGER]
    return None if run is None else (run, newest, None if alone else _status(f"{path}/{FINDINGS}"))


def ledgers_of(path: Path) -> list[Path]:
    """That of a run, or those of all its machines; of these the last one written counts."""
    return sorted(path.glob(f"{OF_MACHINES}/*/{LEDGER}")) or [path / LEDGER]


def _status(path: str) -> tuple[int, int, int] | None:
    try:
        status = os.lstat(path)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


def _sums(path: Path) -> Sums | None:
    return sums_of(read_bounded(path), path) if path.exists() else None


def _state(path: Path, stamp: Stamp) -> RunState:
    """By its ledgers; the report of several machines counts until one of them is measured again."""
    if Run(path).is_import:
        return state_of_import(path / FINDINGS)
    ledgers = ledgers_of(path)
    state = together(map(state_of, ledgers))
    _, ledger, findings = stamp
    reported = ledger is not None and findings is not None and findings[0] >= ledger[0]
    return with_verdict(state, path / FINDINGS) if reported else state


def _read(key: str, path: Path, stamp: Stamp) -> _Known:
    try:
        data = checked(path, RUN, read_bounded(path / RUN), _sums(path / SUMS))
        facts = parsed(data, path / RUN, RunFacts, facts_of_1)
        state = _state(path, stamp)
        return _Known(stamp, ListedRun(key, path, facts, state, running=False))
    except RecordError as error:
        return _Known(stamp, None, error.message.replace(f"{path}/", ""))
    except OSError as error:
        return _Known(stamp, None, f"cannot be read: {error.strerror}")
