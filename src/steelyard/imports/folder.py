"""An import on disk: the folder of a run, with ``import.json`` in place of plan and trials."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

from steelyard.imports.findings import findings_of
from steelyard.imports.reading import ResultFile
from steelyard.imports.record import ImportRecord
from steelyard.judge.findings import RunFindings
from steelyard.records.archive import IMPORT, Run, RunFacts
from steelyard.records.creation import create_import
from steelyard.records.files.checksums import read_checked, read_sums
from steelyard.records.files.documents import parsed


def keep(
    results: Path,
    record: ImportRecord,
    files: Sequence[ResultFile],
    command: tuple[str, ...],
    created_unix_ns: int,
) -> Run:
    """Makes the folder of an import below ``results``, whole or not at all.

    Raises:
        OSError: it cannot be written.
    """
    text = record.model_dump_json(indent=1).encode() + b"\n"
    facts = RunFacts(
        tool_version=record.tool_version,
        study=f"import-{record.kind}",
        study_file=", ".join(file.name for file in record.files),
        study_sha256=hashlib.sha256(text).hexdigest(),
        variant=None,
        seed=0,
        created_unix_ns=created_unix_ns,
        command=command,
    )
    kept = {own.kept_as: file.data for own, file in zip(record.files, files, strict=True)}
    return create_import(results, facts, text, kept)


def find_import(run: Run) -> RunFindings:
    """All that an import says, judged again.

    Raises:
        RecordError: it is damaged.
        TrialsError: its numbers are not judged; ``steelyard import`` keeps none such.
    """
    data = read_checked(run.path, IMPORT, read_sums(run.path))
    record = parsed(data, run.path / IMPORT, ImportRecord, lambda document: document)
    name = f"{run.path.parent.name}/{run.name}"
    return findings_of(record, name, hashlib.sha256(data).hexdigest())
