"""Caches before memory: a nearer level is not slower than the next one (Hennessy and Patterson).

A level that is as fast as the one before it, where the same step is clear elsewhere in the table,
was probably measured in that one, or copied from it.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterator, Sequence

from steelyard.consistency.cells import Cell, Levels, Table
from steelyard.consistency.findings import Cause, Finding, Rule
from steelyard.consistency.making import explained, found
from steelyard.consistency.printed import Interval
from steelyard.consistency.quantities import DATA_RATE, TIME

_ORDER = {"l1": 1, "l1d": 1, "l2": 2, "l3": 3, "l4": 4, "llc": 5, "ram": 6, "dram": 6,
          "memory": 6}  # fmt: skip
_NO_STEP = 1.02
_CLEAR_STEP = 1.5
Step = tuple[Cell, Cell, float]


def check(table: Table) -> Iterator[Finding]:
    for factor in table.columns:
        named = [c for c in table.cells if c.level(factor).lower() in _ORDER]
        if len({c.level(factor).lower() for c in named}) > 1:
            yield from _hierarchy(named, factor)


def _hierarchy(cells: Sequence[Cell], factor: str) -> Iterator[Finding]:
    groups: dict[Levels, list[Cell]] = defaultdict(list)
    for cell in cells:
        if cell.number.value > 0 and _slows(cell) is not None:
            groups[cell.key(factor)].append(cell)
    steps: list[Step] = []
    for group in groups.values():
        order = sorted(group, key=lambda cell: _ORDER[cell.level(factor).lower()])
        steps += [(near, far, _step(near, far)) for near, far in itertools.pairwise(order)]
    for near, far, step in steps:
        ends = (near.level(factor), far.level(factor))
        alike = [s for n, f, s in steps if n is not near
                 and (n.level(factor), f.level(factor)) == ends]  # fmt: skip
        yield from _judged(near, far, step, alike)


def _judged(near: Cell, far: Cell, step: float, alike: Sequence[float]) -> Iterator[Finding]:
    faster = _slows(far) or False
    wrong = far.interval.surely_above(near.interval) if faster else near.interval.surely_above(
        far.interval)  # fmt: skip
    usual = sorted(alike)[len(alike) // 2] if alike else 0.0
    bound = near.number.value
    if wrong:
        wanted = Interval(near.interval.low / max(usual, 1.0), near.interval.high)
        cause = Cause.NO_STEP if usual > _CLEAR_STEP and step > 1 / _NO_STEP else explained(
            far, wanted) if faster else None  # fmt: skip
        low, high = (None, bound) if faster else (bound, None)
        yield found(Rule.MEMORY_HIERARCHY, far, low=low, high=high, cause=cause, others=[near])
    elif step < _NO_STEP and len(alike) > 1 and usual > _CLEAR_STEP:
        low, high = (None, bound / usual) if faster else (bound * usual, None)
        yield found(
            Rule.MEMORY_HIERARCHY, far, low=low, high=high, cause=Cause.NO_STEP, others=[near]
        )


def _slows(cell: Cell) -> bool | None:
    """Whether a farther level has a smaller number; ``None`` where the unit does not say."""
    unit = cell.parsed_unit
    if unit is None or unit.dimension not in (DATA_RATE, TIME):
        return None
    return unit.dimension == DATA_RATE


def _step(near: Cell, far: Cell) -> float:
    """How many times the nearer level is faster."""
    ratio = near.number.value / far.number.value
    return ratio if _slows(near) else 1 / ratio
