"""The JSON schemas of what a run's folder holds and of its findings.

``python -m steelyard.report.json_schemas schemas`` writes them; a test holds them to the types.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from steelyard.consistency.findings import TableFindings
from steelyard.imports.record import ImportRecord
from steelyard.judge.findings import RunFindings
from steelyard.plan.model import Plan
from steelyard.records.archive import RunFacts
from steelyard.records.commitment import Commitment
from steelyard.records.events import event_adapter
from steelyard.records.note import ON, TEXT, Note
from steelyard.records.schema import TrialRecord
from steelyard.records.stream import stream_adapter

Schema = dict[str, object]
"""A JSON schema, or a part of one."""

DOCUMENTS: dict[str, tuple[str, TypeAdapter[Any]]] = {
    "run": ("run.json of a run", TypeAdapter(RunFacts)),
    "plan": ("plan.json of a run", TypeAdapter(Plan)),
    "ledger-event": ("A line of ledger.jsonl of a run", event_adapter()),
    "stream-event": ("A line of `steelyard run --json`", stream_adapter()),
    "commitment": ("commitment.json of a run", TypeAdapter(Commitment)),
    "trial-record": ("record.json of an attempt at a trial", TypeAdapter(TrialRecord)),
    "import": ("import.json of what another tool measured", TypeAdapter(ImportRecord)),
    "findings": ("findings.json of a run", TypeAdapter(RunFindings)),
    "table-findings": ("What `steelyard check --json` prints", TypeAdapter(TableFindings)),
}


_WITH_TEXT = "findings"
"""The document whose notes have their sentences beside them."""


def schema_of(name: str) -> Schema:
    """The schema of a document of this version, whichever release wrote it.

    A field that has a default may have come later, and is not required; what names a kind is.
    Sentences, and the machines that a note is about, are in findings alone.
    """
    title, adapter = DOCUMENTS[name]
    schema = adapter.json_schema()
    notes = {kind.__name__ for kind in _kinds(Note)}
    for part, described in schema.get("$defs", {}).items():
        if part in notes and name == _WITH_TEXT:
            described["properties"][TEXT] = {"type": "string", "description": "Its sentence."}
        elif part in notes:
            del described["properties"][ON]
    for described in (schema, *schema.get("$defs", {}).values()):
        if "properties" in described:
            needed = set(described.get("required", ()))
            described["required"] = [
                field
                for field, values in described["properties"].items()
                if field in needed or "const" in values
            ]
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": title}


def schema_text(name: str) -> str:
    """The same as it is kept in ``schemas/NAME.schema.json``."""
    return json.dumps(schema_of(name), indent=2, ensure_ascii=False) + "\n"


def _kinds(base: type[Note]) -> Iterator[type[Note]]:
    for kind in base.__subclasses__():
        yield kind
        yield from _kinds(kind)


def write_schemas(folder: Path) -> None:
    """Writes every schema."""
    for name in DOCUMENTS:
        (folder / f"{name}.schema.json").write_text(schema_text(name), encoding="utf-8")


if __name__ == "__main__":
    write_schemas(Path(sys.argv[1]))
