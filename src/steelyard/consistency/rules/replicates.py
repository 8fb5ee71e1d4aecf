"""How often each value was measured, and zeros that stand for nothing measured at all."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Iterator, Sequence

from steelyard.consistency.cells import Cell, Levels, Table
from steelyard.consistency.findings import Cause, Finding, Rule
from steelyard.consistency.making import found
from steelyard.consistency.reading import REPLICATES

_FEWEST = 3
_ZERO = {"failed", "failures", "errors", "error", "lost", "rejected", "dropped", "timeouts",
         "retries", "min", "wait", "waiting", "steal", "swap"}  # fmt: skip
"""Quantities whose natural value is zero."""


def check(table: Table) -> Iterator[Finding]:
    yield from _replicates(table)
    yield from _alone(table)
    yield from _impossible(table)


def _replicates(table: Table) -> Iterator[Finding]:
    """Once for the whole table: how many values rest on one run, or on an unstated number."""
    cells = [c for c in table.measured if c.is_measured or c.unit == "percent"]
    said = [(cell, text) for cell in cells for name, text in cell.row.items()
            if name.lower() in REPLICATES]  # fmt: skip
    for rule, fits in ((Rule.SINGLE_REPLICATE, {"1"}), (Rule.REPLICATES_NOT_STATED, {""})):
        hits = [cell for cell, text in said if text in fits]
        if hits:
            yield found(rule, hits[0], count=len(hits), of=len(said))


def _alone(table: Table) -> Iterator[Finding]:
    """A group of zeros alone, where others of its kind have other values besides."""
    sizes = [len(group) for group in table.groups]
    if len(sizes) < _FEWEST:
        return
    usual = statistics.median(sizes)
    for group in table.groups:
        cells = list(group.values())
        if len(cells) < usual / 2 and all(cell.number.value == 0 for cell in cells):
            names = {cell.name for cell in cells}
            fuller = [g for g in table.groups if len(g) >= usual and names <= set(g)]
            if len(fuller) >= _FEWEST - 1:
                yield from (found(Rule.ZERO, cell, cause=Cause.ALONE) for cell in cells)


def _impossible(table: Table) -> Iterator[Finding]:
    """A time, a rate or a size of zero where all others of its kind are positive."""
    kinds: dict[tuple[Levels, str], list[Cell]] = defaultdict(list)
    for cell in table.measured:
        if cell.is_measured and not cell.words & _ZERO:
            kinds[cell.name, cell.unit].append(cell)
    for cells in kinds.values():
        yield from _zeros_among(cells)


def _zeros_among(cells: Sequence[Cell]) -> Iterator[Finding]:
    zeros = [cell for cell in cells if cell.number.value == 0]
    positive = [cell for cell in cells if cell.number.value > 0]
    if zeros and len(positive) >= max(_FEWEST, 4 * len(zeros)) and len(positive) + len(
        zeros) == len(cells):  # fmt: skip
        least = min(cell.number.value for cell in positive)
        for cell in zeros:
            if cell.interval.high < least / 4:
                yield found(Rule.ZERO, cell, cause=Cause.POSITIVE_ELSEWHERE)
