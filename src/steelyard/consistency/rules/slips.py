"""Values far from all their neighbours that one wrong digit, or the point elsewhere, explains.

A digit slip needs a box of three columns and two levels each, whose other seven corners agree far
more closely than the value does with any; a factor of ten needs a smooth series.
"""

from __future__ import annotations

import itertools
import statistics
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from math import log10

from steelyard.consistency.cells import Cell, Levels, Table, series
from steelyard.consistency.findings import Finding, Rule
from steelyard.consistency.making import found
from steelyard.consistency.printed import Interval, is_slip

_CLOSE = 0.01
"""Of the value: how closely neighbours agree, for a digit slip."""
_FAR = 0.02
_SPREADS = 6
_ROUGH, _SMOOTH = 0.35, 0.15
"""Decimal logarithms: how far a point is from the line through its neighbours."""
_CLEARER = 4
_FEWEST = 5


def check(table: Table) -> Iterator[Finding]:
    measured = [c for c in table.measured if c.is_measured and c.number.value > 0]
    ten = {id(cell): finding for column in table.factors
           for cell, finding in _factors_of_ten(measured, column)}  # fmt: skip
    yield from ten.values()
    for cell, finding in _digit_slips(measured, table.factors):
        if id(cell) not in ten:
            yield finding


def _factors_of_ten(cells: Sequence[Cell], column: str) -> Iterator[tuple[Cell, Finding]]:
    """The one point of a series whose shift by a power of ten makes it smooth."""
    for one in series(cells, column):
        places = [log10(float(cell.level(column)) or 0.1) for cell in one]
        logs = [log10(cell.number.value) for cell in one]
        if len(set(places)) < max(_FEWEST, len(places)):
            continue
        before = _roughness(places, logs)
        if before < _ROUGH:
            continue
        rough, at, power = min(_shifts(places, logs))
        if rough < min(_SMOOTH, before / _CLEARER):
            wanted = one[at].number.value / 10.0**power
            others = [*one[:at], *one[at + 1 :]][:2]
            yield one[at], found(Rule.FACTOR_OF_TEN, one[at], low=wanted, high=wanted,
                                 others=others)  # fmt: skip


def _shifts(places: Sequence[float], logs: Sequence[float]) -> Iterator[tuple[float, int, int]]:
    """How rough the series is with each point shifted by each power of ten."""
    for at in range(len(logs)):
        for power in (-3, -2, -1, 1, 2, 3):
            shifted = [*logs[:at], logs[at] - power, *logs[at + 1 :]]
            yield _roughness(places, shifted), at, power


def _roughness(places: Sequence[float], logs: Sequence[float]) -> float:
    """How far a point is from the line through its neighbours, at most."""
    away = 0.0
    for at in range(1, len(logs) - 1):
        before, here, behind = places[at - 1], places[at], places[at + 1]
        share = (here - before) / (behind - before)
        away = max(away, abs(logs[at] - (1 - share) * logs[at - 1] - share * logs[at + 1]))
    return away


def _digit_slips(cells: Sequence[Cell], factors: Sequence[str]) -> Iterator[tuple[Cell, Finding]]:
    known = {cell.key(): cell for cell in cells}
    indexes = {name: _by_key(cells, name) for name in factors}
    for cell in cells:
        near = {name: [o for o in indexes[name][cell.key(name)] if o is not cell]
                for name in factors}  # fmt: skip
        box = _box(cell, near, known)
        if box:
            values = [other.number.value for other in box]
            spread = max(values) - min(values)
            wanted = Interval(min(values) - 2 * spread, max(values) + 2 * spread)
            if is_slip(cell.number.text, wanted):
                yield cell, found(Rule.DIGIT_SLIP, cell, low=min(values), high=max(values),
                                  others=box)  # fmt: skip


def _by_key(cells: Sequence[Cell], name: str) -> Mapping[Levels, list[Cell]]:
    index: dict[Levels, list[Cell]] = defaultdict(list)
    for cell in cells:
        index[cell.key(name)].append(cell)
    return index


def _box(
    cell: Cell, near: Mapping[str, Sequence[Cell]], known: Mapping[Levels, Cell]
) -> list[Cell]:
    """The other seven corners of a box of three columns, where they agree and the cell does not.

    In each column the neighbour is chosen that is nearest to the cell: in its favour.
    """
    value = cell.number.value
    nearest = {name: min(others, key=lambda o: abs(o.number.value - value))
               for name, others in near.items() if others}  # fmt: skip
    if any(abs(other.number.value - value) <= _FAR * value for other in nearest.values()):
        return []
    for names in itertools.combinations(nearest, 3):
        corners = [known.get(key) for key in _corners(cell, names, nearest)]
        others = [corner for corner in corners if corner is not None]
        if len(others) == 7 and _agree([corner.number.value for corner in others], value):
            return others
    return []


def _corners(cell: Cell, names: Sequence[str], nearest: Mapping[str, Cell]) -> Iterator[Levels]:
    """The keys of all corners but the cell's own."""
    for count in range(1, len(names) + 1):
        for several in itertools.combinations(names, count):
            other = {name: nearest[name].level(name) for name in several}
            yield tuple((name, other.get(name, text)) for name, text in cell.key())


def _agree(values: Sequence[float], value: float) -> bool:
    middle = statistics.median(values)
    spread = (max(values) - min(values)) / middle
    return spread < _CLOSE and abs(value - middle) / middle > max(_FAR, _SPREADS * spread)
