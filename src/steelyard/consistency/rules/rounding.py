"""How values were rounded: percentages not to the nearest, and digits too few to compare.

A direction of rounding is named where rounding to the nearest fails and one direction explains
all values. Digits are too few where one unit of the last place is more than a tenth of the value.
"""

from __future__ import annotations

import statistics
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from steelyard.consistency.cells import Cell, Levels, Table
from steelyard.consistency.findings import Cause, Finding, Rule
from steelyard.consistency.making import found
from steelyard.consistency.printed import MODES, rounded
from steelyard.consistency.relations import Percentage, percentages_of

_CAUSES = {"up": Cause.UP, "down": Cause.DOWN, "truncated": Cause.TRUNCATED}
_ROWS, _FEW = 8, 3
_FEWEST = 5
_WRONG = 0.2
_EXPLAINED = 0.9
_COARSE = 0.1
_CELLS = 4


def check(table: Table) -> Iterator[Finding]:
    for percentage in percentages_of(table):
        yield from _direction(percentage, table)
    yield from _resolution(table)


def _direction(percentage: Percentage, table: Table) -> Iterator[Finding]:
    rows: list[tuple[Cell, float, Sequence[Cell]]] = []
    for group in table.groups:
        cells = percentage.cells(group)
        if cells is None or cells[0].is_derived or not cells[0].number.value:
            continue
        percent, base, other = cells
        face = percentage.face(base.number.value, other.number.value)
        if abs(percent.number.value - face) < float(percent.number.quantum):
            rows.append((percent, face, [base, other]))
    fits = Counter(mode for cell, face, _ in rows for mode in MODES
                   if rounded(face, cell.number, mode) == cell.number.value)  # fmt: skip
    wrong = [row for row in rows if rounded(row[1], row[0].number) != row[0].number.value]
    best = max(_CAUSES, key=lambda mode: fits[mode])
    if _is_direction(len(rows), len(wrong), fits[best]):
        cell, face, others = wrong[0]
        nearest = rounded(face, cell.number)
        yield found(Rule.ROUNDING, cell, low=nearest, high=nearest, cause=_CAUSES[best],
                    others=others, count=len(wrong), of=len(rows))  # fmt: skip


def _is_direction(rows: int, wrong: int, explained: int) -> bool:
    """Whether chance is no explanation: few exceptions to rounding need all rows on one side."""
    if explained == rows and rows >= _ROWS and wrong >= _FEW:
        return True
    return wrong >= max(_FEWEST, _WRONG * rows) and explained >= _EXPLAINED * rows


def _resolution(table: Table) -> Iterator[Finding]:
    """Quantities whose last digit is a large part of most of their values."""
    found_of: dict[tuple[Levels, str, tuple[str, ...]], list[Cell]] = defaultdict(list)
    scopes = [name for name in table.factors if name.lower() in ("scope", "host", "machine")]
    for cell in table.measured:
        if _is_measured(cell):
            where = tuple(cell.level(name) for name in scopes)
            found_of[cell.name, cell.unit, where].append(cell)
    for cells in found_of.values():
        if len(cells) < _CELLS or any(cell.number.value < 0 for cell in cells):
            continue
        coarse = [c for c in cells if float(c.number.quantum) > _COARSE * abs(c.number.value)]
        middle = statistics.median(cell.number.value for cell in cells)
        if middle > 0 and 2 * len(coarse) >= len(cells):
            worst = max(coarse, key=lambda c: -c.number.value)
            yield found(Rule.RESOLUTION, worst, count=len(coarse), of=len(cells))


def _is_measured(cell: Cell) -> bool:
    return cell.statistic != 0.0 and (cell.is_measured or cell.unit == "percent")
