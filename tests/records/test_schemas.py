"""The schemas in ``schemas/`` are those of the types, and fit what is stored."""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from pathlib import Path
from typing import Any, get_args

import jsonschema
import pytest
from pydantic import BaseModel

from steelyard.consistency.findings import (
    Cause,
    Finding,
    Place,
    Rule,
    Severity,
    TableFindings,
)
from steelyard.plan.model import Cell, Plan
from steelyard.records.archive import RunFacts
from steelyard.records.events import Event
from steelyard.records.files.documents import VERSION
from steelyard.records.missing import MissingKind
from steelyard.records.note import ON
from steelyard.records.schema import Outcome, TrialRecord
from steelyard.records.stream import AttemptMeasured, RunJudged, RunPlanned
from steelyard.records.warnings import WarningKind
from steelyard.report.json_schemas import DOCUMENTS, schema_of, schema_text
from steelyard.report.notes.missing import TEXTS

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/reference/records.md"
KEPT = Path(__file__).parent / f"v{VERSION}"

EVENTS = (*get_args(Event), RunPlanned, AttemptMeasured, RunJudged)
CELL = Cell(system="two", conditions={"load.users": 4})
OF_THE_STREAM = (
    RunPlanned(tool_version="0.1.0", run="results/tiny/1", study="tiny", study_sha256="0" * 64,
               seed=3, systems=("one", "two"), visits=12, trials=24, trials_done=0),
    AttemptMeasured(trial=1, attempt=1, visit=1, cell=CELL, outcome=Outcome.OK, response="errors",
                    value=None, unit="ratio", warnings=(WarningKind.STEAL,), at_most_s_more=1.5),
    RunJudged(exit_code=1, reports=("report.html",), findings={"study": "tiny"}),
)  # fmt: skip


OF_A_TABLE = TableFindings(
    table="table.csv", values=2, no_numbers=1, claims=1, claims_supported=0, findings=(
        Finding(Rule.SUM, Severity.ERROR, Place(2, 5, "value", "total, ext4", "7.5"), 7.4, 7.4,
                Cause.DIGIT, others=(Place(3, 5, "value", "part, ext4", "3.7"),)),
        Finding(Rule.CLAIM, Severity.ERROR, Place(3, 5, "value", "part, ext4", "3.7"), 4.0,
                claim="more"),
    ))  # fmt: skip


def documents(name: str) -> list[Any]:
    """Those of the fixture of this version; findings are golden ones."""
    if name == "stream-event":
        own = [json.loads(event.model_dump_json()) for event in OF_THE_STREAM]
        return [*documents("ledger-event"), *own]
    if name == "ledger-event":
        lines = (KEPT / "ledger.jsonl").read_text("utf-8").splitlines()
        return [json.loads(line) for line in lines]
    if name == "table-findings":
        return [json.loads(json.dumps(asdict(OF_A_TABLE)))]
    paths = {
        "run": [KEPT / "run.json"],
        "plan": [KEPT / "plan.json"],
        "commitment": [KEPT / "commitment.json"],
        "trial-record": sorted(KEPT.glob("trials/*/record.json")),
        "import": [ROOT / "tests/cases/imports/import.json"],
        "findings": sorted((ROOT / "tests/golden/report").glob("*/findings.json")),
    }
    return [json.loads(path.read_text("utf-8")) for path in paths[name]]


@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_schema_in_the_repository_is_current(name: str) -> None:
    kept = (ROOT / "schemas" / f"{name}.schema.json").read_text("utf-8")
    assert kept == schema_text(name), "run: make schemas"


@pytest.mark.parametrize("name", DOCUMENTS)
def test_stored_documents_fit_their_schema(name: str) -> None:
    schema = schema_of(name)
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    found = documents(name)
    assert found
    for document in found:
        validator.validate(document)


def test_every_schema_is_named_in_the_reference_of_records() -> None:
    page = PAGE.read_text("utf-8")
    for name in DOCUMENTS:
        assert f"{name}.schema.json" in page


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: event.__name__)
def test_every_event_has_its_row_with_its_fields(event: type[BaseModel]) -> None:
    fields = event.model_fields
    name = fields["event"].default
    (row,) = re.findall(rf"^\| `{name}` \|.*$", PAGE.read_text("utf-8"), re.MULTILINE)
    for field in fields.keys() - {"event", "at_unix_ns"}:
        assert f"`{field}`" in row


@pytest.mark.parametrize("missing", MissingKind.__subclasses__(), ids=lambda each: each.__name__)
def test_every_kind_of_missing_value_has_its_row_with_its_figures_and_a_sentence(
    missing: type[MissingKind],
) -> None:
    for kind in get_args(missing.model_fields["kind"].annotation):
        (row,) = re.findall(rf"^\| `{kind}` \|.*$", PAGE.read_text("utf-8"), re.MULTILINE)
        for field in missing.model_fields.keys() - {"kind", ON}:
            assert f"`{field}`" in row
        assert kind in TEXTS


@pytest.mark.parametrize("document", [TrialRecord, Plan, RunFacts])
def test_every_field_of_a_document_is_in_the_reference(document: type[BaseModel]) -> None:
    page = PAGE.read_text("utf-8")
    for field in document.model_fields:
        assert f"`{field}`" in page
