"""The folders of new runs: each appears whole, named by its UTC time, or not at all."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from pydantic import BaseModel

from steelyard.plan.model import Plan
from steelyard.records.archive import (
    FACTS,
    IMPORT,
    MACHINES,
    OF_MACHINES,
    SOURCES,
    MachineNames,
    Run,
    RunFacts,
)
from steelyard.records.commitment import COMMITMENT, Commitment, commit, plan_bytes
from steelyard.records.files.checksums import write_files
from steelyard.records.files.durable import (
    clear_unfinished,
    folder_appears,
    make_folders,
    sync_folder,
    write_file,
)


def create_run(  # noqa: PLR0917 - what a run consists of
    results: Path,
    facts: RunFacts,
    study_bytes: bytes,
    plan: Plan,
    own: Mapping[str, str] | None = None,
    commitment: Commitment | None = None,
) -> Run:
    """Makes the folder of a new run, named by its UTC time, whole or not at all.

    ``own`` are texts of platforms, services and profiles that are the user's own, by path;
    ``commitment`` was made before, otherwise one is made now.

    Raises:
        OSError: ``results`` cannot be written.
    """
    folder = _new_name(results, facts)
    with folder_appears(folder) as new:
        _write_run(new, facts, study_bytes, plan, own or {}, commitment)
    return Run(folder)


def create_machines(
    results: Path,
    facts: RunFacts,
    study_bytes: bytes,
    plans: Mapping[str, Plan],
    own: Mapping[str, str] | None = None,
) -> Run:
    """The same of a run on several machines, each with its plan and a commitment of its own.

    Raises:
        OSError: ``results`` cannot be written.
    """
    folder = _new_name(results, facts)
    with folder_appears(folder) as new:
        names = MachineNames(machines=tuple(plans))
        files = {
            "study.yaml": study_bytes,
            FACTS: _line(facts),
            MACHINES: _line(names),
        }
        write_files(new, files)
        for name, plan in plans.items():
            part = new / OF_MACHINES / name
            make_folders(part)
            changed = {"machine": name, "seed": plan.seed}
            _write_run(part, facts.model_copy(update=changed), study_bytes, plan, own or {}, None)
    return Run(folder)


def _write_run(  # noqa: PLR0917 - the same
    new: Path,
    facts: RunFacts,
    study_bytes: bytes,
    plan: Plan,
    own: Mapping[str, str],
    commitment: Commitment | None,
) -> None:
    files = {
        "study.yaml": study_bytes,
        FACTS: _line(facts),
        "plan.json": plan_bytes(plan),
        COMMITMENT: (commitment or commit(facts.study_sha256, plan)).stored(),
    }
    write_files(new, files)
    write_file(new / "ledger.jsonl", b"")
    for path, text in own.items():
        (new / path).parent.mkdir(exist_ok=True)
        write_file(new / path, text.encode())
    (new / "trials").mkdir(mode=0o700)
    sync_folder(new / "trials")


def _line(document: BaseModel) -> bytes:
    return document.model_dump_json(indent=1).encode() + b"\n"


def create_import(
    results: Path, facts: RunFacts, record: bytes, sources: Mapping[str, bytes]
) -> Run:
    """Makes the folder of what another tool measured, named as a run, whole or not at all.

    ``record`` is its ``import.json``; ``sources`` are the files that it was read from.

    Raises:
        OSError: ``results`` cannot be written.
    """
    folder = _new_name(results, facts)
    with folder_appears(folder) as new:
        files = {FACTS: _line(facts), IMPORT: record}
        write_files(new, files)
        (new / SOURCES).mkdir()
        write_files(new / SOURCES, sources)
        sync_folder(new / SOURCES)
    return Run(folder)


def _new_name(results: Path, facts: RunFacts) -> Path:
    """Where a run that is created now will lie; what a crash left there is cleared."""
    moment = datetime.fromtimestamp(facts.created_unix_ns / 1e9, tz=UTC)
    base = results / facts.study
    make_folders(base)
    clear_unfinished(base)
    return _free_name(base / moment.strftime("%Y-%m-%dT%H-%M-%SZ"))


def _free_name(folder: Path) -> Path:
    candidate, number = folder, 2
    while candidate.exists():
        candidate, number = folder.with_name(f"{folder.name}-{number}"), number + 1
    return candidate
