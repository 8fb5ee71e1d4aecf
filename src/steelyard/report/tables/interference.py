"""Who is slowed by whom: a table of victims and aggressors for each system."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from steelyard.judge.analyses.consolidation.findings import (
    Aggressor,
    BackgroundWorkload,
    InterferenceCellFinding,
    InterferenceTableFinding,
    Victim,
)
from steelyard.judge.findings import RunFindings
from steelyard.report import notes
from steelyard.report.figures import counted, decimals_for, fixed, span
from steelyard.report.view import Table
from steelyard.study.labels import Labels

TITLE = "Who is slowed by whom"
WORDS = {
    "undisturbed": "nothing as large as the margin",
    "open": "not distinguished from none",
}
NOTES = (
    "How many times as long the same work takes beside another as by itself.",
    "Each interval is one at 95 % by itself.",
    "The words for one workload on all systems hold together, at its part of the error rate.",
)


def interference_tables(run: RunFindings) -> list[Table]:
    """One for each system on which anything ran beside a measured workload."""
    return [_table(each, run.labels) for each in run.interference]


def _table(found: InterferenceTableFinding, labels: Labels) -> Table:
    width = len(found.aggressors)
    rows = tuple(
        (
            victim_text(victim, labels),
            *(cell_text(cell) for cell in found.cells[row * width : (row + 1) * width]),
        )
        for row, victim in enumerate(found.victims)
    )
    head = ("Victim", *(f"beside {aggressor_text(each)}" for each in found.aggressors))
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
    return f"{fixed(math.exp(slower.log), decimals)} ({span(low, high)}){word}"


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
                "note": "; ".join([_places(cell, run.labels), *_missing(cell)]),
                "conditions": cell.conditions or {},
            }


def _missing(cell: InterferenceCellFinding) -> list[str]:
    return [] if cell.missing is None else [notes.text(cell.missing, Labels())]


def victim_text(victim: Victim, labels: Labels) -> str:
    """``cpu, n 100``, ``2 x cpu``."""
    name = labels.conditions(victim.conditions) or victim.workload
    return name if victim.instances <= 1 else f"{victim.instances} x {name}"


def aggressor_text(aggressor: Aggressor) -> str:
    """``2 x cpu on other instances``, with its scenario where that is needed."""
    said = " and ".join(map(_background, aggressor.workloads))
    if aggressor.scenario is not None:
        return f"{said} ({aggressor.scenario})"
    return said if aggressor.instances is None else f"{said} ({aggressor.instances} instances)"


def _background(found: BackgroundWorkload) -> str:
    name = found.workload if found.count == 1 else f"{found.count} x {found.workload}"
    if found.same_instance:
        return f"{name} on the same instance"
    return f"{name} on another instance" if found.count == 1 else f"{name} on other instances"


def _places(cell: InterferenceCellFinding, labels: Labels) -> str:
    return f"{victim_text(cell.victim, labels)} beside {aggressor_text(cell.aggressor)}"


def _word(cell: InterferenceCellFinding, log: float) -> str:
    if cell.word == "disturbed":
        return "slowed" if log > 0 else "quickened"
    return WORDS[cell.word or "open"]
