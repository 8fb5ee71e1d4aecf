"""The folder of a run.

::

    results/STUDY/RUN/
      study.yaml      as hashed before trial 1
      platforms/      files of platforms that are not of the catalogue, if the study names any
      services/       files of services, likewise
      workloads/      files of workloads, likewise
      profiles/       files of tuned's profiles, likewise
      run.json        study path, variant, seed, version of the tool
      plan.json       every visit and trial
      ledger.jsonl    every event of the run, in order
      trials/0007-1/  trial 7, attempt 1: record, load and service as JSON, samples as
                      Parquet, what a tool printed as text
      report/         what was made from it; may be deleted and made again

A trial's folder appears by rename, whole or not at all, whatever its outcome.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar

import polars as pl
from pydantic import BaseModel, ValidationError

from steelyard.errors import RecordError
from steelyard.plan.extension import extended
from steelyard.plan.frozen import Frozen
from steelyard.plan.model import Plan
from steelyard.records.courses import Course, course_of
from steelyard.records.durable import (
    clear_unfinished,
    folder_appears,
    make_folders,
    sync_folder,
    write_file,
)
from steelyard.records.events import BudgetExtended, Event
from steelyard.records.ledger import read_ledger
from steelyard.records.load_times import LoadTimes, load_times_of
from steelyard.records.migration import Document, facts_of_1, plan_of_1, record_of_1
from steelyard.records.schema import TrialRecord

_Model = TypeVar("_Model", bound=BaseModel)
VERSION = 2
"""The schema version of run facts, plans and records that are written."""

_RESTORE = "it is damaged; restore the run from a backup"
_ATTEMPT_NAME = re.compile(r"(\d{4,})-(\d+)")


class RunFacts(Frozen):
    """What ``run.json`` holds: where the run came from."""

    schema_version: Literal[2] = 2
    tool_version: str
    study: str
    study_file: str
    study_sha256: str
    variant: str | None
    seed: int
    created_unix_ns: int
    command: tuple[str, ...] = ()


def attempt_key(trial: int, attempt: int) -> str:
    """Name of an attempt's folder: ``0007-1``."""
    return f"{trial:04d}-{attempt}"


class Samples(NamedTuple):
    """Counters of one machine in one attempt: ``system``, ``system.2``, ``host``, ``generator``."""

    attempt: str
    machine: str
    frame: pl.DataFrame


@dataclass(frozen=True)
class Run:
    """One run on disk."""

    path: Path

    @property
    def name(self) -> str:
        return self.path.name

    @property
    def ledger_path(self) -> Path:
        return self.path / "ledger.jsonl"

    @property
    def study_path(self) -> Path:
        return self.path / "study.yaml"

    @property
    def report_path(self) -> Path:
        return self.path / "report"

    def facts(self) -> RunFacts:
        """What ``run.json`` says."""
        return _read_model(self.path / "run.json", RunFacts, facts_of_1)

    def plan(self) -> Plan:
        """The plan of ``plan.json``, with the visits of an extension if the ledger has one."""
        plan = _read_model(self.path / "plan.json", Plan, plan_of_1)
        return extended(plan) if any(isinstance(e, BudgetExtended) for e in self.events()) else plan

    def events(self) -> list[Event]:
        """The ledger."""
        return read_ledger(self.ledger_path)

    def records(self) -> list[TrialRecord]:
        """Every attempt, ordered by trial and attempt."""
        paths = [folder / "record.json" for _, folder in self._attempts()]
        return [_read_model(path, TrialRecord, record_of_1) for path in paths]

    def courses(self) -> Iterator[tuple[str, Course]]:
        """Throughput over the window of every attempt that drove a load, by attempt key.

        Raises:
            RecordError: the result of a load is damaged.
        """
        for key, folder in self._attempts():
            paths = sorted(folder.glob("load*.json"))
            course = course_of([_read_document(path) for path in paths])
            if course is not None:
                yield key, course

    def load_times(self) -> Iterator[tuple[str, LoadTimes]]:
        """Response times of every attempt that drove a load, by attempt key.

        Raises:
            RecordError: the result of a load is damaged.
        """
        for key, folder in self._attempts():
            paths = sorted(folder.glob("load*.json"))
            try:
                times = load_times_of([_read_document(path) for path in paths])
            except (KeyError, TypeError, ValueError) as error:
                raise RecordError(
                    f"{folder}: its response times cannot be read: {error!r}",
                    hint=_RESTORE,
                    slug="record-is-damaged",
                ) from error
            if times is not None:
                yield key, times

    def samples(self) -> Iterator[Samples]:
        """Sampled counters of every machine in every attempt."""
        for key, folder in self._attempts():
            for path in sorted(folder.glob("samples*.parquet")):
                machine = path.stem.removeprefix("samples").removeprefix("-") or "system"
                yield Samples(key, machine, pl.read_parquet(path))

    def write_attempt(
        self,
        record: TrialRecord,
        *,
        documents: Mapping[str, bytes],
        samples: Mapping[str, pl.DataFrame],
    ) -> None:
        """Puts one attempt on disk: durable and whole when this returns.

        Args:
            documents: raw output by file name, as ``load.json`` or ``stdout.txt``.
            samples: counters over time of each machine by file name, one row a sample.

        Raises:
            OSError: the disk is full or gone; nothing of the attempt is left.
            FileExistsError: the attempt is recorded already.
        """
        with folder_appears(self._attempt_folder(record)) as folder:
            for name, data in documents.items():
                write_file(folder / name, data)
            for name, frame in samples.items():
                with (folder / name).open("xb") as file:
                    frame.write_parquet(file)
                    file.flush()
                    os.fsync(file.fileno())
            write_file(folder / "record.json", record.model_dump_json(indent=1).encode() + b"\n")

    def _attempt_folder(self, record: TrialRecord) -> Path:
        return self.path / "trials" / attempt_key(record.trial, record.attempt)

    def _attempts(self) -> Iterator[tuple[str, Path]]:
        folders = []
        for folder in (self.path / "trials").iterdir():
            match = _ATTEMPT_NAME.fullmatch(folder.name)
            if match:
                folders.append((int(match[1]), int(match[2]), folder))
        for _, _, folder in sorted(folders):
            yield folder.name, folder


def create_run(
    results: Path,
    facts: RunFacts,
    study_bytes: bytes,
    plan: Plan,
    own: Mapping[str, str] | None = None,
) -> Run:
    """Makes the folder of a new run, named by its UTC time, whole or not at all.

    ``own`` are texts of platforms, services and profiles that are the user's own, by path.

    Raises:
        OSError: ``results`` cannot be written.
    """
    moment = datetime.fromtimestamp(facts.created_unix_ns / 1e9, tz=UTC)
    base = results / facts.study
    make_folders(base)
    clear_unfinished(base)
    folder = _free_name(base / moment.strftime("%Y-%m-%dT%H-%M-%SZ"))
    with folder_appears(folder) as new:
        write_file(new / "study.yaml", study_bytes)
        write_file(new / "run.json", facts.model_dump_json(indent=1).encode() + b"\n")
        write_file(new / "plan.json", plan.model_dump_json(indent=1).encode() + b"\n")
        write_file(new / "ledger.jsonl", b"")
        for path, text in (own or {}).items():
            (new / path).parent.mkdir(exist_ok=True)
            write_file(new / path, text.encode())
        (new / "trials").mkdir()
        sync_folder(new / "trials")
    return Run(folder)


def open_run(path: Path) -> Run:
    """The run at ``path``: its folder, or a study's folder of runs (then the newest).

    Raises:
        RecordError: there is no run.
    """
    if (path / "run.json").is_file():
        return Run(path)
    runs = sorted(child for child in _folders(path) if (child / "run.json").is_file())
    if runs:
        return Run(runs[-1])
    raise RecordError(
        f"{path} is not the folder of a run",
        hint="name a folder below results/, as `steelyard run` printed it",
        slug="not-a-run",
    )


def runs_below(results: Path) -> list[Run]:
    """All runs of all studies in a folder of results, by study and time; none if it is missing."""
    runs = [run for study in _folders(results) for run in _folders(study)]
    return [Run(run) for run in sorted(runs) if (run / "run.json").is_file()]


def _folders(path: Path) -> list[Path]:
    return [child for child in path.iterdir() if child.is_dir()] if path.is_dir() else []


def _free_name(folder: Path) -> Path:
    candidate, number = folder, 2
    while candidate.exists():
        candidate, number = folder.with_name(f"{folder.name}-{number}"), number + 1
    return candidate


def _read_document(path: Path) -> dict[str, Any]:
    return _document(path.read_bytes(), path)


def _document(data: bytes, path: Path) -> dict[str, Any]:
    try:
        return dict(json.loads(data))
    except (ValueError, TypeError, RecursionError) as error:
        raise RecordError(
            f"{path}: {error}",
            hint=_RESTORE,
            slug="record-is-damaged",
        ) from error


def _read_model(path: Path, model: type[_Model], of_1: Callable[[Document], Document]) -> _Model:
    try:
        data = path.read_bytes()
    except FileNotFoundError as error:
        raise RecordError(
            f"{path} is missing",
            hint="the run is not whole; restore it from a backup or start a new one",
            slug="record-is-damaged",
        ) from error
    return parsed(data, path, model, of_1)


def parsed(
    data: bytes, path: Path, model: type[_Model], of_1: Callable[[Document], Document]
) -> _Model:
    """A document of this version, or of version 1 as this version has it; ``path`` is named.

    Raises:
        RecordError: it is damaged, or a later version wrote it.
    """
    try:
        return model.model_validate_json(data)
    except ValidationError as error:
        document = _document(data, path)
        version = document.get("schema_version")
        if version == 1:
            return _migrated(path, document, model, of_1)
        if isinstance(version, int) and version != VERSION:
            raise _unknown_version(path, version) from error
        raise _damaged(path, error) from error


def _migrated(
    path: Path, document: Document, model: type[_Model], of_1: Callable[[Document], Document]
) -> _Model:
    try:
        return model.model_validate(of_1(document))
    except ValidationError as error:
        raise _damaged(path, error) from error
    except (KeyError, TypeError, AttributeError) as error:
        raise RecordError(
            f"{path}: it is not a document of schema version 1: {error!r}",
            hint=_RESTORE,
            slug="record-is-damaged",
        ) from error


def _unknown_version(path: Path, version: int) -> RecordError:
    return RecordError(
        f"{path} has schema version {version}; this steelyard reads versions 1 to {VERSION}",
        hint="read it with a later steelyard: run.json names the version that wrote it",
        slug="record-version-unknown",
    )


def _damaged(path: Path, error: ValidationError) -> RecordError:
    first = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"]) or "the document"
    return RecordError(f"{path}: {place}: {first['msg']}", hint=_RESTORE, slug="record-is-damaged")
