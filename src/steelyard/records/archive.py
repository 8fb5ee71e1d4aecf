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
      commitment.json what opens the commitment to study, plan and seed
      SHA256SUMS      of these four, without the user's own files
      ledger.jsonl    every event of the run, in order
      trials/0007-1/  trial 7, attempt 1: record, load and service as JSON, samples as
                      compressed JSON, what a tool printed as text; SHA256SUMS of these
      packed/         the same of attempts that have no folder any more (``compaction.py``)
      report/         what was made from it; may be deleted and made again

A run on several machines has ``machines.json``, which names them, and under ``machines/NAME/`` the
run of each, in place of plan, commitment, ledger and trials.

What another tool measured (``imports/``) has ``import.json`` and ``sources/``, the files that
it was read from, in place of study, plan, ledger and trials.

A trial's folder appears by rename, whole or not at all, whatever its outcome.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeVar

from pydantic import BaseModel

from steelyard.errors import RecordError
from steelyard.plan.model import Frozen, Plan
from steelyard.records.attempt_folder import AttemptFolder, Samples, attempt_key
from steelyard.records.commitment import (
    COMMITMENT,
    Commitment,
    commitment_of,
)
from steelyard.records.counters import Counters, stored
from steelyard.records.events import Event
from steelyard.records.files.checksums import (
    SUMS,
    read_checked,
    read_sums,
    refuse_unlike_the_ledger,
    write_files,
)
from steelyard.records.files.documents import parsed, uncollected
from steelyard.records.files.durable import (
    NEW,
    folder_appears,
)
from steelyard.records.files.migration import Document, facts_of_1, plan_of_1
from steelyard.records.files.packed import Files, packed_places, read_packed
from steelyard.records.ledger import read_ledger
from steelyard.records.load_results import Load, load_of
from steelyard.records.schema import TrialRecord
from steelyard.records.sessions import CHANGE_THE_PLAN, plan_after

FACTS = "run.json"
IMPORT = "import.json"
MACHINES = "machines.json"
SOURCES = "sources"
OF_MACHINES = "machines"
_ATTEMPT_NAME = re.compile(r"(\d{4,})-(\d+)")


class RunFacts(Frozen):
    """What ``run.json`` holds: where the run came from. ``machine``: which of several it is of."""

    schema_version: Literal[2] = 2
    tool_version: str
    tool_commit: str | None = None
    study: str
    study_file: str
    study_sha256: str
    variant: str | None
    machine: str | None = None
    seed: int
    created_unix_ns: int
    command: tuple[str, ...] = ()


class MachineNames(Frozen):
    """What ``machines.json`` holds: the names of the machines, in the order of the study."""

    machines: tuple[str, ...]


_Model = TypeVar("_Model", bound=BaseModel)


def in_full(path: Path) -> Path:
    """The same folder by a path that an agent takes, without ``..``, and of two names at least."""
    return path.resolve() if ".." in path.parts or len(path.parts) < 2 else path


@dataclass(frozen=True)
class Run:
    """One run on disk; ``path`` names its study's folder, too, climbs nowhere, and leads over no
    link: the kernel names mounts and loop devices by real paths.
    """

    path: Path

    def __post_init__(self) -> None:
        path = in_full(self.path)
        real = path.resolve()
        object.__setattr__(self, "path", path if path.absolute() == real else real)

    @property
    def name(self) -> str:
        return self.path.name

    @property
    def key(self) -> str:
        """``STUDY/RUN``, and of one machine of several ``STUDY/RUN/machines/NAME``."""
        return "/".join(self.path.parts[-2 if self.of_machines is None else -4 :])

    @property
    def of_machines(self) -> Path | None:
        """The folder of the run of several machines, where this is that of one of them."""
        whole = self.path.parents[1]
        return (
            whole if self.path.parent.name == OF_MACHINES and (whole / MACHINES).is_file() else None
        )

    @property
    def ledger_path(self) -> Path:
        return self.path / "ledger.jsonl"

    @property
    def study_path(self) -> Path:
        return self.path / "study.yaml"

    @property
    def is_import(self) -> bool:
        """Whether another tool measured it."""
        return (self.path / IMPORT).is_file()

    @property
    def has_machines(self) -> bool:
        """Whether it consists of the runs of several machines."""
        return (self.path / MACHINES).is_file()

    def machines(self) -> dict[str, Run]:
        """The run of each machine by its name; none of a run on one machine.

        Raises:
            RecordError: what names them is damaged.
        """
        if not self.has_machines:
            return {}
        sums = read_sums(self.path)
        raw = read_checked(self.path, MACHINES, sums)
        found = parsed(raw, self.path / MACHINES, MachineNames, lambda document: document)
        return {name: Run(self.path / OF_MACHINES / name) for name in found.machines}

    def parts(self) -> tuple[Run, ...]:
        """The runs that hold trials: itself, or those of its machines."""
        return tuple(self.machines().values()) or (self,)

    @property
    def report_path(self) -> Path:
        return self.path / "report"

    def refuse_changed_files(self) -> None:
        """Holds study, facts, plan and commitment against their checksums.

        Raises:
            RecordError: one is missing, or is not what was written.
        """
        sums = read_sums(self.path)
        for name in sums or ():
            read_checked(self.path, name, sums)

    def facts(self) -> RunFacts:
        """What ``run.json`` says."""
        return self._model("run.json", RunFacts, facts_of_1)

    def plan(self) -> Plan:
        """The plan of ``plan.json``, with the visits that events of the ledger added to it."""
        return plan_after(self.planned(), read_ledger(self.ledger_path, CHANGE_THE_PLAN))

    def planned(self) -> Plan:
        """The plan as it was fixed before the first trial, whatever the ledger says."""
        with uncollected():
            return self._model("plan.json", Plan, plan_of_1)

    def commitment(self) -> Commitment | None:
        """That of study, plan and seed; ``None`` of a run that was made without.

        Raises:
            RecordError: it is damaged or missing.
        """
        sums = read_sums(self.path)
        path = self.path / COMMITMENT
        if COMMITMENT not in (sums or {}) and not path.exists():
            return None
        return commitment_of(read_checked(self.path, COMMITMENT, sums), path)

    def events(self) -> list[Event]:
        """The ledger."""
        return read_ledger(self.ledger_path)

    def records(self) -> list[TrialRecord]:
        """Every attempt, ordered by trial and attempt.

        Raises:
            RecordError: one is missing or damaged, or is not the one that the ledger names.
        """
        return list(self.each_record())

    def each_record(self) -> Iterator[TrialRecord]:
        """The same, one after the other.

        Raises:
            RecordError: at the one that is damaged, or in the end, where one is missing.
        """
        keys, before = [], self.events()
        for each in self._attempts("record"):
            keys.append(each.key)
            yield each.record()
        refuse_unlike_the_ledger(self.path, before, keys, self.events)

    def attempt_keys(self) -> list[str]:
        """Names of all attempts, in order: of those with a folder, and of those that are packed.

        Raises:
            RecordError: what is packed cannot be read.
        """
        return [key for _, _, key in _in_order({*packed_places(self.path), *self._trial_folders()})]

    def file_names(self) -> dict[str, frozenset[str]]:
        """The files of every attempt that are there, by attempt key."""
        return {each.key: each.names for each in self._attempts()}

    def loads(self) -> Iterator[tuple[str, Load]]:
        """What the generator counted in every attempt, by attempt key.

        Raises:
            RecordError: the result of a load is damaged.
        """
        for attempt in self._attempts("load"):
            yield attempt.key, attempt.read_loads(load_of)

    def samples(self, damaged: Callable[[str], object] = lambda _: None) -> Iterator[Samples]:
        """Sampled counters of every machine in every attempt.

        Those that are missing or damaged are left out, and their names given to ``damaged``.
        """
        for attempt in self._attempts("samples"):
            yield from attempt.samples(damaged)

    def write_attempt(
        self,
        record: TrialRecord,
        *,
        documents: Mapping[str, bytes],
        samples: Mapping[str, Counters],
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
            files = dict(documents)
            files |= {name: stored(counters) for name, counters in samples.items()}
            files["record.json"] = record.model_dump_json(indent=1).encode() + b"\n"
            write_files(folder, files)

    def _attempt_folder(self, record: TrialRecord) -> Path:
        return self.path / "trials" / attempt_key(record.trial, record.attempt)

    def _attempts(self, *wanted: str) -> Iterator[AttemptFolder]:
        """In order; of those that are packed only the files whose names begin as ``wanted``.

        One file of ``packed/`` is in memory at a time; they hold attempts in the same order.
        """
        places, folders = packed_places(self.path), self._trial_folders()
        loaded: tuple[Path | None, Mapping[str, Files]] = (None, {})
        for trial, attempt, key in _in_order({*places, *folders}):
            if key in folders:
                yield AttemptFolder(folders[key], trial, attempt)
                continue
            place = places[key]
            if loaded[0] != place:
                loaded = (place, read_packed(place, (SUMS, *wanted) if wanted else ()))
            yield AttemptFolder(place / key, trial, attempt, loaded[1][key])

    def _trial_folders(self) -> dict[str, Path]:
        return {folder.name: folder for folder in _folders(self.path / "trials")}

    def _model(
        self, name: str, model: type[_Model], of_1: Callable[[Document], Document]
    ) -> _Model:
        sums = read_sums(self.path)
        return parsed(read_checked(self.path, name, sums), self.path / name, model, of_1)


def _in_order(names: Iterable[str]) -> list[tuple[int, int, str]]:
    """Trial, attempt and name of those that are names of attempts."""
    matches = (match for match in map(_ATTEMPT_NAME.fullmatch, names) if match)
    return sorted((int(match[1]), int(match[2]), match[0]) for match in matches)


def open_run(path: Path) -> Run:
    """The run at ``path``: its folder, or a study's folder of runs (then the newest); of the folder
    of machines that of all of them.

    Raises:
        RecordError: there is no run.
    """
    if (path / "run.json").is_file():
        return Run(path)
    if path.name == OF_MACHINES and (path.parent / MACHINES).is_file():
        return Run(path.parent)
    runs = runs_of(path)
    if runs:
        return runs[-1]
    raise RecordError(
        f"{path} is not the folder of a run",
        hint="name a folder below results/, as `steelyard run` printed it",
        slug="not-a-run",
    )


def of_one_machine(run: Run) -> Run:
    """The run, if it has trials of its own.

    Raises:
        RecordError: it consists of the runs of several machines.
    """
    if run.has_machines:
        first = next(iter(run.machines().values())).path
        raise RecordError(
            f"{run.path} consists of the runs of several machines",
            hint=f"name that of one machine, as {first}",
            slug="run-of-several-machines",
        )
    return run


def refuse_names_of_machines(run: Run) -> None:
    """For what shall name no machine.

    Raises:
        RecordError: the findings of the run tell machines apart by their names.
    """
    if run.has_machines or run.of_machines is not None:
        raise RecordError(
            f"{run.path} is of several machines, whose names are conditions of its findings",
            hint="leave out --anonymous, or measure one machine in a run of its own",
            slug="run-of-several-machines",
        )


def runs_of(study: Path) -> list[Run]:
    """All runs in a study's folder by time; none where it is another folder."""
    return [Run(run) for run in sorted(_folders(study)) if (run / "run.json").is_file()]


def runs_below(results: Path) -> list[Run]:
    """All runs of all studies in a folder of results, by study and time; none if it is missing."""
    return [run for study in sorted(_folders(results)) for run in runs_of(study)]


def _folders(path: Path) -> list[Path]:
    """Those that are whole: one that a crash left unfinished is no run, and is cleared."""
    if not path.is_dir():
        return []
    return [each for each in path.iterdir() if each.is_dir() and not each.name.startswith(NEW)]
