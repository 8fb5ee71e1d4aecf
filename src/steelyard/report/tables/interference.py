"""Who is slowed by whom: a table of victims and aggressors for each system."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from steelyard.judge.analyses.consolidation.findings import (
    InterferenceCellFinding,
    InterferenceTableFinding,
)
from steelyard.judge.findings import RunFindings
from steelyard.report import notes
from steelyard.report.figures import counted, decimals_for, fixed
from steelyard.report.tables.table import Table
from steelyard.study.labels import Labels

TITLE = "Who is slowed by whom"
WORDS = {
    "undisturbed": "nothing as large as the margin",
    "open": "not told apart from none",
}
NOTES = (
    "How many times as long the same work takes beside another as by itself.",
    "Each interval is one at 95 % by itself.",
    "The words for one workload on all systems hold together, at its part of the error rate.",
)


def interference_tables(run: RunFindings) -> list[Table]:
    """One for each system on which anything ran beside a measured workload."""
    return [_table(each) for each in run.interference]


def _table(found: InterferenceTableFinding) -> Table:
    width = len(found.aggressors)
    rows = tuple(
        (victim, *(cell_text(cell) for cell in found.cells[row * width : (row + 1) * width]))
        for row, victim in enumerate(found.victims)
    )
    head = ("Victim", *(f"beside {name}" for name in found.aggressors))
    return Table(f"{TITLE}, on {found.system}", head, rows, notes=NOTES)


def cell_text(cell: InterferenceCellFinding) -> str:
    """The slowdown with its interval and what that says; why not, where there is none."""
    slower = cell.slowdown
    if slower is None:
        return "not measured" if cell.missing is None else notes.text(cell.missing, Labels())
    if slower.low_log is None or slower.high_log is None:
        return f"{fixed(math.exp(slower.log), 2)} in {counted(cell.visits, 'visit')}, no interval"
    ends = [math.exp(log) for log in (slower.low_log, slower.high_log)]
    decimals = decimals_for(ends, [1.0], 2)
    low, high = (fixed(end, decimals) for end in ends)
    word = "" if cell.word is None else f", {_word(cell, slower.log)}"
    return f"{fixed(math.exp(slower.log), decimals)} ({low}..{high}){word}"


def interference_rows(run: RunFindings) -> Iterator[dict[str, Any]]:
    """A flat row for each victim and aggressor; one that is empty says why."""
    for found in run.interference:
        for cell in found.cells:
            slower = cell.slowdown
            yield {
                "kind": "interference",
                "system": found.system,
                "word": cell.word,
                "estimate_log": None if slower is None else slower.log,
                "low_log": None if slower is None else slower.low_log,
                "high_log": None if slower is None else slower.high_log,
                "n": cell.visits,
                "note": "; ".join([_places(cell), *_missing(cell)]),
                "conditions": cell.conditions or {},
            }


def _missing(cell: InterferenceCellFinding) -> list[str]:
    return [] if cell.missing is None else [notes.text(cell.missing, Labels())]


def _places(cell: InterferenceCellFinding) -> str:
    return f"{cell.victim} beside {cell.aggressor}"


def _word(cell: InterferenceCellFinding, log: float) -> str:
    if cell.word == "disturbed":
        return "slowed" if log > 0 else "quickened"
    return WORDS[cell.word or "open"]
