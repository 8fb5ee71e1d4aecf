"""A table as its rules see it: cells with their levels, and the ways to set cells side by side."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from steelyard.consistency.findings import Place
from steelyard.consistency.printed import Interval, Printed
from steelyard.consistency.quantities import (
    DATA,
    DATA_RATE,
    ENERGY,
    LOADS,
    RATE,
    TIME,
    Unit,
    statistic,
    unit_of,
    without_statistic,
    words,
)

Levels = tuple[tuple[str, str], ...]
METRIC, STATISTIC, PHASE, KIND = "metric", "statistic", "phase", "kind"
SEMANTIC = (METRIC, STATISTIC, PHASE, KIND)
"""Columns that say what was measured; all others say of what."""
_OPERATIONS = {
    "mean": "mean", "average": "mean", "avg": "mean", "sum": "sum", "total": "sum",
    "min": "min", "minimum": "min", "max": "max", "maximum": "max", "median": "median",
}  # fmt: skip
_SUMMARY = {"printed", "summary", "derived", "grand"}


@dataclass(frozen=True)
class Cell:
    """One printed number. ``levels``: of the columns that tell cells apart; ``row``: of all."""

    line: int
    column: int
    header: str
    number: Printed
    unit: str
    levels: Mapping[str, str] = field(hash=False)
    row: Mapping[str, str] = field(hash=False)

    def level(self, name: str) -> str:
        return self.levels.get(name, "")

    @cached_property
    def metric(self) -> str:
        return self.level(METRIC)

    @cached_property
    def name(self) -> Levels:
        """What was measured: metric, phase and statistic."""
        return tuple((c, self.level(c)) for c in (METRIC, STATISTIC, PHASE) if self.level(c))

    @cached_property
    def statistic(self) -> str | float | None:
        """Of the samples behind the value; ``None`` for a value as such."""
        found = statistic(self.level(STATISTIC))
        return without_statistic(self.metric)[1] if found is None else found

    @cached_property
    def quantity(self) -> str:
        """The metric without its statistic, and its phase."""
        return f"{without_statistic(self.metric)[0]} {self.level(PHASE)}".strip()

    @property
    def words(self) -> set[str]:
        return set().union(*(words(text) for _, text in self.name))

    @cached_property
    def parsed_unit(self) -> Unit | None:
        return unit_of(self.unit)

    @cached_property
    def is_measured(self) -> bool:
        """A number of a unit that has no sign: time, data, a rate, energy."""
        unit = self.parsed_unit
        known = unit is not None and unit.dimension in (TIME, DATA, RATE, DATA_RATE)
        return known or self.unit in ENERGY

    @property
    def interval(self) -> Interval:
        return self.number.interval

    @cached_property
    def base(self) -> Interval:
        """In base units."""
        unit = self.parsed_unit
        return self.interval.times(unit.scale if unit else 1.0)

    @cached_property
    def operation(self) -> str | None:
        """What a derived row is of others: ``mean``, ``sum``, ``min``, ``max``, ``median``.

        Said by its ``kind``, or by the level of a column that says of what was measured.
        """
        kinds = words(self.level(KIND))
        where = [text for name, text in self.levels.items() if name not in SEMANTIC]
        found = [_OPERATIONS[w] for w in sorted(kinds) if w in _OPERATIONS]
        if not found and kinds & _SUMMARY:
            found = [_OPERATIONS[w] for w in words(self.level(STATISTIC)) if w in _OPERATIONS]
        if not found:
            found = [_OPERATIONS[w] for text in where for w in sorted(words(text))
                     if w in _OPERATIONS]  # fmt: skip
        return found[0] if found else None

    @property
    def is_derived(self) -> bool:
        return self.operation is not None or bool(words(self.level(KIND)) & _SUMMARY)

    @cached_property
    def load(self) -> float | None:
        """Users, connections or threads, where one column says so."""
        found = [text for name, text in self.row.items() if name.lower() in LOADS]
        numbers = [float(text) for text in found if text.isdigit()]
        return numbers[0] if len(numbers) == 1 and numbers[0] > 0 else None

    def key(self, *without: str) -> Levels:
        return tuple((n, text) for n, text in self.levels.items() if n not in without)

    @property
    def place(self) -> Place:
        named = [text for text in self.levels.values() if text]
        return Place(self.line, self.column, self.header, ", ".join(named), self.number.text)


@dataclass(frozen=True)
class Table:
    """The numbers of a table. ``columns``: those that tell them apart, in their order.

    ``lacks_value``: it names a metric and a unit in columns, and no column of values.
    """

    name: str
    cells: tuple[Cell, ...]
    columns: tuple[str, ...]
    no_numbers: int = 0
    lacks_value: bool = False

    @cached_property
    def measured(self) -> list[Cell]:
        return [cell for cell in self.cells if not cell.is_derived]

    @cached_property
    def factors(self) -> list[str]:
        """Columns that say of what was measured."""
        return [name for name in self.columns if name not in SEMANTIC]

    @cached_property
    def groups(self) -> list[dict[Levels, Cell]]:
        """Cells of one and the same measurement by what was measured."""
        return list(grouped(self.cells, METRIC, STATISTIC, PHASE).values())

    def by(self, name: str) -> Mapping[str, list[Cell]]:
        found: dict[str, list[Cell]] = defaultdict(list)
        for cell in self.cells:
            found[cell.level(name)].append(cell)
        return found


def grouped(cells: Iterable[Cell], *within: str) -> dict[Levels, dict[Levels, Cell]]:
    """Cells that share all levels but those of ``within``, by the latter."""
    found: dict[Levels, dict[Levels, Cell]] = defaultdict(dict)
    for cell in cells:
        name = tuple((c, cell.level(c)) for c in within if cell.level(c))
        found[cell.key(*within)].setdefault(name, cell)
    return found


def series(cells: Iterable[Cell], along: str) -> Iterator[list[Cell]]:
    """Cells that differ in one column alone, by its numbers."""
    found: dict[Levels, list[Cell]] = defaultdict(list)
    for cell in cells:
        if cell.level(along).replace(".", "", 1).isdigit():
            found[cell.key(along)].append(cell)
    for one in found.values():
        yield sorted(one, key=lambda cell: float(cell.level(along)))
