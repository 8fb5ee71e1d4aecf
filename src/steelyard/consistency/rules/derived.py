"""Sums, differences and percentages within a group, computed again; parts against wholes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from steelyard.consistency.cells import Cell, Table
from steelyard.consistency.findings import Finding, Rule
from steelyard.consistency.making import differs, explained, found
from steelyard.consistency.printed import Interval, total
from steelyard.consistency.quantities import COUNT, DATA
from steelyard.consistency.relations import Percentage, percentages_of, sums_of
from steelyard.consistency.rules import aggregates

_FEWEST = 10
_NEARLY_ALL = 0.9
_EXACT = 5.0
"""Units of the last place: so far off is no rounding, where nearly all are within one."""
_DIFFERENCES = {"saved", "saving", "difference", "diff", "delta", "gain", "loss", "change",
                "improvement", "overhead", "remaining", "free"}  # fmt: skip
_WHOLES = {"total", "sum", "sent", "all", "requests", "attempts"}
_PARTS = {"failed", "failures", "errors", "error", "lost", "rejected", "dropped", "successful",
          "succeeded", "completed", "timeouts", "retries"}  # fmt: skip


def check(table: Table) -> Iterator[Finding]:
    yield from _sums(table)
    yield from _percentages(table)
    yield from _parts(table)


def _sums(table: Table) -> Iterator[Finding]:
    wrong = {finding.at for finding in aggregates.check(table)}
    for relation in sums_of(table):
        for group in table.groups:
            cells = relation.cells(group)
            # A mean that is already known to be wrong is what its difference disagrees with.
            if cells is not None and not wrong & {c.place for c in (cells[0], *cells[1])}:
                yield from _sum(cells[0], cells[1])


def _sum(whole: Cell, parts: list[Cell]) -> Iterator[Finding]:
    """The derived one of the cells is held to the others."""
    if whole.base.meets(total(part.base for part in parts)):
        return
    named = [part for part in parts if part.words & _DIFFERENCES]
    at = named[0] if len(named) == 1 and not whole.words & _WHOLES else whole
    rest = [cell for cell in (whole, *parts) if cell is not at]
    if at is whole:
        wanted = total(part.base for part in parts)
    else:
        wanted = whole.base - total(part.base for part in parts if part is not at)
    rule = Rule.SUM if at is whole else Rule.DIFFERENCE
    yield differs(rule, at, _in_unit(at, wanted), rest)


def _in_unit(cell: Cell, wanted: Interval) -> Interval:
    unit = cell.parsed_unit
    return wanted.times(1 / unit.scale) if unit else wanted


def _percentages(table: Table) -> Iterator[Finding]:
    for percentage in percentages_of(table):
        # A derived row may be a mean of percentages: `aggregates` holds it to its parts.
        rows = [
            (cells, wanted)
            for group in table.groups
            if (cells := percentage.cells(group)) is not None
            and (wanted := percentage.wanted(group)) is not None
            and not cells[0].is_derived
        ]
        as_printed = _is_of_printed(percentage, rows)
        for cells, wanted in rows:
            quanta = _EXACT if as_printed else math.inf
            if not cells[0].number.any_rounding.meets(wanted) or _off(percentage, cells) > quanta:
                face = percentage.face(cells[1].number.value, cells[2].number.value)
                at = Interval(face, face) if as_printed else wanted
                yield differs(Rule.PERCENTAGE, cells[0], at, cells[1:])


def _is_of_printed(
    percentage: Percentage, rows: Sequence[tuple[tuple[Cell, Cell, Cell], Interval]]
) -> bool:
    """Whether the percentages were computed from the values as they are printed."""
    near = sum(_off(percentage, cells) <= 1.0 for cells, _ in rows)
    return len(rows) >= _FEWEST and near >= _NEARLY_ALL * len(rows)


def _off(percentage: Percentage, cells: tuple[Cell, Cell, Cell]) -> float:
    """How many units of its last place a percentage is from that of the printed values."""
    face = percentage.face(cells[1].number.value, cells[2].number.value)
    return abs(cells[0].number.value - face) / float(cells[0].number.quantum)


def _parts(table: Table) -> Iterator[Finding]:
    """No part of requests or data is more than the whole."""
    for group in table.groups:
        cells = [c for c in group.values() if _is_amount(c) and c.statistic is None]
        wholes = [c for c in cells if c.words & _WHOLES and not c.words & _PARTS]
        for whole in wholes:
            for part in cells:
                if _is_part(part, whole) and part.base.surely_above(whole.base):
                    high = _in_unit(part, whole.base).high
                    cause = explained(part, _in_unit(part, whole.base))
                    yield found(Rule.PART, part, high=high, cause=cause, others=[whole])


def _is_amount(cell: Cell) -> bool:
    unit = cell.parsed_unit
    return unit is not None and unit.dimension in (COUNT, DATA)


def _is_part(part: Cell, whole: Cell) -> bool:
    """Of the same: it fails or succeeds of what was sent, or shares the name of a total."""
    if part is whole or part.unit != whole.unit:
        return False
    ours, theirs = part.words - _PARTS, whole.words - _WHOLES
    named = bool(part.words & _PARTS) and (ours <= theirs | _WHOLES or theirs <= ours)
    return named or (bool(theirs) and theirs < part.words and "total" in whole.words)
