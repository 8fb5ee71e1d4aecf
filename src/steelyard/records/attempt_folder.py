"""The folder of one attempt: its record, the results of its loads, and sampled counters."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from steelyard.errors import RecordError, SteelyardError
from steelyard.records.counters import EARLIER_ENDING, ENDING, Counters, counters_of
from steelyard.records.files.checksums import (
    SUMS,
    Sums,
    checked,
    read_checked,
    read_sums,
    sums_of,
)
from steelyard.records.files.documents import RESTORE, document_of, parsed
from steelyard.records.files.migration import record_of_1
from steelyard.records.files.packed import Files
from steelyard.records.schema import TrialRecord

_Read = TypeVar("_Read")


def attempt_key(trial: int, attempt: int) -> str:
    """Name of an attempt's folder: ``0007-1``."""
    return f"{trial:04d}-{attempt}"


class Samples(NamedTuple):
    """Counters of one machine in one attempt: ``system``, ``system.2``, ``host``, ``generator``."""

    attempt: str
    machine: str
    counters: Counters


@dataclass(frozen=True)
class AttemptFolder:
    """An attempt on disk; the numbers are those of its name.

    ``packed`` are its files where it has no folder of its own any more (``files/packed.py``).
    """

    path: Path
    trial: int
    attempt: int
    packed: Files | None = None

    @property
    def key(self) -> str:
        return self.path.name

    def record(self) -> TrialRecord:
        """What is recorded of it.

        Raises:
            RecordError: it is missing or damaged, is of another attempt, or names a file that is
                missing.
        """
        path = self.path / "record.json"
        record = parsed(self._read("record.json"), path, TrialRecord, record_of_1)
        if (record.trial, record.attempt) != (self.trial, self.attempt):
            raise _damaged(path, f"it is of {attempt_key(record.trial, record.attempt)}")
        for name in self._names():
            if not is_samples(name) and name not in self.names:
                raise _damaged(self.path / name, "it is missing")
        return record

    def read_loads(self, read: Callable[[list[dict[str, Any]]], _Read]) -> _Read:
        """What comes of the results of its loads.

        Raises:
            RecordError: one is damaged.
        """
        names = sorted(each for each in self.names if fnmatch(each, "load*.json"))
        documents = [document_of(self._read(name), self.path / name) for name in names]
        try:
            return read(documents)
        except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
            raise _damaged(
                self.path, f"the result of its load cannot be read: {error!r}"
            ) from error

    def samples(self, damaged: Callable[[str], object]) -> Iterator[Samples]:
        """Sampled counters; those that cannot be read are left out and named to ``damaged``."""
        listed = set(filter(is_samples, self._names()))
        found = set(filter(is_samples, self.names))
        for name in sorted(listed | found):
            machine = name.removesuffix(ENDING).removesuffix(EARLIER_ENDING)
            machine = machine.removeprefix("samples").removeprefix("-")
            try:
                counters = counters_of(self._read(name), name)
            except (SteelyardError, ValueError, OSError):
                damaged(f"{self.key}/{name}")
                continue
            yield Samples(self.key, machine or "system", counters)

    @cached_property
    def names(self) -> frozenset[str]:
        """Of the files that are there."""
        if self.packed is not None:
            return frozenset(self.packed)
        return frozenset(path.name for path in self.path.iterdir())

    @cached_property
    def _sums(self) -> Sums | None:
        if self.packed is None:
            return read_sums(self.path)
        kept = self.packed.get(SUMS)
        return None if kept is None else sums_of(kept.data, self.path / SUMS)

    def _names(self) -> list[str]:
        return [] if self._sums is None else list(self._sums)

    def _read(self, name: str) -> bytes:
        if self.packed is None:
            return read_checked(self.path, name, self._sums)
        kept = self.packed.get(name)
        if kept is None:
            raise _damaged(self.path / name, "it is missing")
        return checked(self.path, name, kept.data, self._sums, kept.sha256)


def is_samples(name: str) -> bool:
    """Whether a file of this name holds sampled counters."""
    return name.startswith("samples") and name.endswith((ENDING, EARLIER_ENDING))


def samples_file(machine: str) -> str:
    """Where the counters of a machine are stored: ``samples.json.gz`` for the system itself."""
    return f"samples{ENDING}" if machine == "system" else f"samples-{machine}{ENDING}"


def _damaged(path: Path, what: str) -> RecordError:
    return RecordError(f"{path}: {what}", hint=RESTORE, slug="record-is-damaged")
