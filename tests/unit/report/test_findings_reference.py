"""The reference names every field of the findings, and nothing that is not there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pydantic import BaseModel

from steelyard.judge import findings
from steelyard.judge.analyses.claims import findings as claims
from steelyard.judge.analyses.consolidation import findings as consolidation
from steelyard.judge.analyses.costs import findings as costs
from steelyard.judge.analyses.factors import findings as factors
from steelyard.judge.analyses.failures import findings as failures
from steelyard.judge.analyses.latency import findings as latency
from steelyard.judge.analyses.ranking import findings as ranking
from steelyard.judge.analyses.requests import findings as requests
from steelyard.judge.analyses.resources import findings as resources
from steelyard.judge.analyses.scaling import findings as scaling
from steelyard.judge.analyses.sections import findings as sections
from steelyard.judge.analyses.steadiness import findings as steadiness
from steelyard.judge.comparisons.families import Family
from steelyard.judge.findings import BottleneckNote, WarningNote
from steelyard.judge.kinds import verdict_notes
from steelyard.judge.machines import findings as machines
from steelyard.records.missing import MissingKind
from steelyard.records.note import ON, Note
from steelyard.report.formats.csv import COLUMNS, CONDITION
from steelyard.report.notes.registry import WRITERS

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "findings.md"
MODELS = {
    model.__name__: model
    for room in (
        findings,
        scaling,
        steadiness,
        ranking,
        failures,
        factors,
        claims,
        consolidation,
        sections,
        costs,
        requests,
        latency,
        resources,
        machines,
    )
    for name, model in vars(room).items()
    if name.endswith("Finding") or name in {"RunFindings", "WorkloadFindings"}
    if isinstance(model, type) and issubclass(model, BaseModel) and not name.startswith("_")
}


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS.keys())
def test_every_field_of_the_findings_has_its_row_in_order(model: type[BaseModel]) -> None:
    text = PAGE.read_text(encoding="utf-8")
    section = re.search(rf"^## {model.__name__}$(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    assert section is not None
    rows = re.findall(r"^\| `(\w+)` \| \S", section[1], re.MULTILINE)
    assert rows == list(model.model_fields)


def _rows(title: str) -> list[list[str]]:
    section = PAGE.read_text(encoding="utf-8").partition(f"\n## {title}\n")[2].partition("\n## ")[0]
    return [[cell.strip() for cell in row.split("|")[1:-1]] for row in section.splitlines() if row]


def test_every_field_of_a_family_has_its_row_in_order() -> None:
    fields = [re.sub("`", "", row[0]) for row in _rows("Family") if row and "`" in row[0]]
    assert fields == list(Family.model_fields)


def test_every_kind_of_note_beside_a_verdict_has_its_row_with_its_figures() -> None:
    kinds = [
        kind
        for kind in vars(verdict_notes).values()
        if isinstance(kind, type) and issubclass(kind, Note) and kind is not Note
    ]
    written = {
        row[0]: re.findall(r"`(\w+)`", row[1]) for row in _rows("Notes") if row and "`" in row[0]
    }
    assert written == {
        f"`{kind.model_fields['kind'].default}`": [
            each for each in kind.model_fields if each not in {"kind", ON}
        ]
        for kind in kinds
    }


def test_every_column_named_for_the_flat_table_exists() -> None:
    text = PAGE.read_text(encoding="utf-8").partition("## The CSV form")[2]
    text = text.partition("\n## ")[0]
    kinds = {
        "verdict",
        "interaction",
        "place",
        "claim",
        "claim_part",
        "cell",
        "attempt",
        "value",
        "pair",
        "share",
        "peak",
        "consolidation",
        "interference",
        "cost",
        "placement",
        "steadiness",
        "percentile",
        "request_time",
        "capacity",
        "level",
        "mean",
        "_log",
        "report.csv",
        CONDITION + "load.users",
    }
    named = set(re.findall(r"`([\w.]+)`", text)) - kinds
    assert named <= set(COLUMNS)


def test_the_reference_names_every_kind_of_note() -> None:
    rows = set(re.findall(r"^\| `(\w+)` \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE))
    of_records = {WarningNote, BottleneckNote, *MissingKind.__subclasses__()}
    assert {kind.model_fields["kind"].default for kind in WRITERS.keys() - of_records} <= rows
