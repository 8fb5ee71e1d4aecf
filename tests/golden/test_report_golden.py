"""Whole reports compared with what was accepted before.

``STEELYARD_ACCEPT=1 pytest tests/golden/test_report_golden.py`` writes the expectations anew;
read the difference before it is committed.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.golden.report_examples import CASES

from steelyard.judge.findings import RunFindings
from steelyard.records.note import TEXT
from steelyard.report.compare import compare_lines
from steelyard.report.formats.registry import FORMATS
from steelyard.report.formats.terminal import screen_lines
from steelyard.report.notes import text

FOLDER = Path(__file__).parent / "report"
CSV_CASES = ("failed", "three", "screened")


def _screen(findings: RunFindings) -> str:
    return "\n".join(screen_lines(findings, 100)) + "\n"


FORMS: dict[str, Callable[[RunFindings], str]] = {
    "screen.txt": _screen,
    "report.md": FORMATS["md"].text,
    "report.csv": FORMATS["csv"].text,
    "findings.json": lambda findings: (
        findings.model_dump_json(indent=1, context={TEXT: lambda note: text(note, findings.labels)})
        + "\n"
    ),
}
PAIRS = [
    (case, form) for case in CASES for form in FORMS if form != "report.csv" or case in CSV_CASES
]


def _compare(path: Path, actual: str) -> None:
    if os.environ.get("STEELYARD_ACCEPT") == "1":
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(actual, encoding="utf-8")
    assert actual == path.read_text(encoding="utf-8")


@pytest.mark.parametrize(("case", "form"), PAIRS)
def test_the_report_of_a_case_reads_as_accepted(case: str, form: str) -> None:
    _compare(FOLDER / case / form, FORMS[form](CASES[case]()))


def test_two_runs_side_by_side_read_as_accepted() -> None:
    other = CASES["mixed"]().model_copy(update={"run": "2026-11-22-0001", "study_sha256": "0" * 64})
    lines = compare_lines(CASES["decided"](), other)
    _compare(FOLDER / "compare.txt", "\n".join(lines) + "\n")
