"""Values that stand in a table more than once where each was measured by itself.

Two levels of one column whose values agree in every digit, over several cells, are one measurement
printed twice. How many digits must agree is a bound on chance: twelve, in three values that differ.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from steelyard.consistency.cells import KIND, METRIC, PHASE, STATISTIC, Cell, Levels, Table
from steelyard.consistency.findings import Finding, Rule
from steelyard.consistency.making import found
from steelyard.consistency.quantities import DATA

_FEWEST = 4
_DIFFERENT = 3
_DIGITS = 12
_MOST_LEVELS = 60
Pairs = list[tuple[Cell, Cell]]


def check(table: Table) -> Iterator[Finding]:
    yield from _duplicates(table)
    for column in table.columns:
        if column not in (STATISTIC, PHASE, KIND):
            yield from _columns(table, column)


def _duplicates(table: Table) -> Iterator[Finding]:
    """Rows of the same levels: which of two values holds?"""
    seen: dict[Levels, Cell] = {}
    for cell in table.cells:
        first = seen.setdefault(cell.key(), cell)
        if first is not cell and first.column == cell.column:
            yield found(Rule.DUPLICATE_ROW, cell, others=[first])


def _columns(table: Table, column: str) -> Iterator[Finding]:
    """Each level of a column against the first one that it repeats."""
    levels: dict[str, dict[Levels, Cell]] = defaultdict(dict)
    for cell in table.cells if column == METRIC else table.measured:
        if not _is_outcome(cell):
            continue
        levels[cell.level(column)][cell.key(column)] = cell
    repeated: set[tuple[str, Levels]] = set()
    for one, two in itertools.islice(itertools.combinations(levels, 2), _MOST_LEVELS**2):
        both = [(cell, levels[two].get(key)) for key, cell in levels[one].items()]
        shared = [(a, b) for a, b in both if b is not None and a.unit == b.unit]
        for block in _blocks(shared, column, table):
            if _is_repeated(block) and (two, block[0][1].key(column)) not in repeated:
                repeated.update((two, later.key(column)) for _, later in block)
                yield _finding(block)


def _is_outcome(cell: Cell) -> bool:
    """Not a number of requests or bytes, which is set rather than measured."""
    unit = cell.parsed_unit
    return cell.unit == "percent" or (cell.is_measured and (unit is None or unit.dimension != DATA))


def _blocks(shared: Pairs, column: str, table: Table) -> Iterator[Pairs]:
    """All of a metric, then parts of it: the levels of each further column, one by one."""
    semantic = [name for name in (METRIC, KIND, PHASE) if name != column]
    factors = [name for name in table.factors if name != column]
    yield from _parted(shared, semantic).values()
    for name in factors:
        yield from _parted(shared, [*semantic, name]).values()
    for several in itertools.combinations(factors, 2):
        yield from _parted(shared, [*semantic, *several]).values()


def _parted(shared: Pairs, names: Sequence[str]) -> Mapping[Levels, Pairs]:
    found: dict[Levels, Pairs] = defaultdict(list)
    for pair in shared:
        found[tuple((name, pair[0].level(name)) for name in names)].append(pair)
    return found


def _is_repeated(block: Pairs) -> bool:
    if len(block) < _FEWEST or any(a.number.text != b.number.text for a, b in block):
        return False
    texts = {a.number.digits for a, _ in block}
    return len(texts) >= _DIFFERENT and sum(len(a.number.digits) for a, _ in block) >= _DIGITS


def _finding(block: Pairs) -> Finding:
    first, later = min(block, key=lambda pair: pair[1].line)
    return found(Rule.REPEATED_VALUES, later, others=[first], count=len(block), of=len(block))
