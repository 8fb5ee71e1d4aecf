"""A finding of cells: what was printed, what would agree, and what would explain it."""

from __future__ import annotations

from collections.abc import Iterable

from steelyard.consistency.cells import Cell
from steelyard.consistency.findings import WARNINGS, Cause, Finding, Rule, Severity
from steelyard.consistency.printed import Interval, is_factor_of_ten, is_slip


def found(
    rule: Rule,
    cell: Cell,
    *,
    low: float | None = None,
    high: float | None = None,
    cause: Cause | None = None,
    others: Iterable[Cell] = (),
    count: int = 1,
    of: int = 1,
) -> Finding:
    """What ``cell`` shows against ``others``; bounds in its own unit."""
    severity = Severity.WARNING if rule in WARNINGS else Severity.ERROR
    places = tuple(other.place for other in others)
    return Finding(rule, severity, cell.place, low, high, cause, places, count, of)


def differs(
    rule: Rule, cell: Cell, wanted: Interval, others: Iterable[Cell], cause: Cause | None = None
) -> Finding:
    """``cell`` is not what the others give."""
    cause = cause or explained(cell, wanted)
    return found(rule, cell, low=wanted.low, high=wanted.high, cause=cause, others=others)


def explained(cell: Cell, wanted: Interval) -> Cause | None:
    """The simplest slip that leads from what was wanted to what was printed."""
    if cell.number.value and cell.interval.times(-1).meets(wanted):
        return Cause.SIGN
    if is_factor_of_ten(cell.number.value, wanted):
        return Cause.FACTOR_OF_TEN
    if is_slip(cell.number.text, wanted):
        return Cause.DIGIT
    return None
