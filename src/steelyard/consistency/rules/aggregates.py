"""Rows that are derived from others: their means, sums, extremes and medians, computed again.

Where most derived rows of a metric are a geometric or harmonic mean, or a median, that is what
they are held to; a single row is held to what it is called.
"""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import ROUND_CEILING, ROUND_DOWN, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal

from steelyard.consistency.cells import KIND, METRIC, STATISTIC, Cell, Table
from steelyard.consistency.findings import Cause, Finding, Rule
from steelyard.consistency.making import differs
from steelyard.consistency.printed import Interval, total
from steelyard.consistency.quantities import words

Compute = Callable[[Sequence[float]], float]
_MEANS: dict[str, Compute] = {
    "mean": statistics.fmean,
    "geometric": statistics.geometric_mean,
    "harmonic": statistics.harmonic_mean,
    "median": statistics.median,
}
_COMPUTED: dict[str, Compute] = {**_MEANS, "min": min, "max": max}
_RULES = {"mean": Rule.MEAN, "sum": Rule.SUM, "min": Rule.EXTREME, "max": Rule.EXTREME,
          "median": Rule.MEAN}  # fmt: skip
_ALL = {"all", "overall", "grand", "mean", "average", "avg", "sum", "total", "min", "minimum",
        "max", "maximum", "median"}  # fmt: skip
"""Words of a level that stands for several others."""
_MOST = 0.8
Derived = tuple[Cell, list[Cell]]


def check(table: Table) -> Iterator[Finding]:
    kinds: dict[tuple[str, str], list[Derived]] = defaultdict(list)
    for cell, parts in _derived(table):
        kinds[cell.metric, str(cell.operation)].append((cell, parts))
    for (_, operation), rows in kinds.items():
        how = _how(operation, rows)
        fits = [_fits(cell, parts, how) for cell, parts in rows]
        if operation == "sum" and 2 * sum(fits) < len(fits) and len(fits) > 1:
            continue  # not sums: rates of machines one after the other, for instance
        for (cell, parts), fit in zip(rows, fits, strict=True):
            if not fit:
                wanted = _wanted(parts, how)
                cause = _cause(cell, parts, operation, table)
                yield differs(_RULES[operation], cell, wanted, parts, cause)


def _derived(table: Table) -> Iterator[Derived]:
    """Each derived row with the rows that it is derived from."""
    measured: Mapping[tuple[str, str], list[Cell]] = _by_quantity(table.measured)
    levels = {name: {cell.level(name) for cell in table.measured} for name in table.columns}
    for cell in table.cells:
        if cell.operation is None:
            continue
        over = [n for n in table.columns if n == KIND or cell.level(n) not in levels[n]]
        across = set(over) - {KIND, STATISTIC}
        if not across or METRIC in over or not all(_ALL & words(cell.level(n)) for n in across):
            continue
        parts = [part for part in measured[cell.metric, cell.unit]
                 if part.key(*over) == cell.key(*over)]  # fmt: skip
        said = [int(w) for name in over for w in words(cell.level(name)) if w.isdigit()]
        if len(parts) > 1 and (not said or len(parts) in said):
            yield cell, parts


def _by_quantity(cells: Sequence[Cell]) -> Mapping[tuple[str, str], list[Cell]]:
    found: dict[tuple[str, str], list[Cell]] = defaultdict(list)
    for cell in cells:
        found[cell.metric, cell.unit].append(cell)
    return found


def _how(operation: str, rows: Sequence[Derived]) -> str:
    """What rows called means are: the mean that most of them fit."""
    if operation != "mean":
        return operation
    fits = {how: sum(_fits(cell, parts, how) for cell, parts in rows) for how in _MEANS}
    best = max(fits, key=lambda how: fits[how])
    clear = fits[best] >= _MOST * len(rows) and fits[best] > 1
    return best if clear and fits[best] > fits["mean"] else "mean"


def _fits(cell: Cell, parts: Sequence[Cell], how: str) -> bool:
    return cell.interval.meets(_wanted(parts, how))


def _wanted(parts: Sequence[Cell], how: str) -> Interval:
    if how == "sum":
        return total(part.interval for part in parts)
    compute = _COMPUTED[how]
    lows, highs = [p.interval.low for p in parts], [p.interval.high for p in parts]
    if how in ("geometric", "harmonic") and min(lows) <= 0:
        return Interval(float("nan"), float("nan"))
    return Interval(compute(lows), compute(highs))


def _cause(cell: Cell, parts: Sequence[Cell], operation: str, table: Table) -> Cause | None:
    """What would have given the printed value; of several the first."""
    if operation not in ("mean", "sum"):
        return None
    whole = total(part.interval for part in parts)
    without = [whole - part.interval for part in parts]
    count = len(parts)
    divisors = (count, count - 1) if operation == "mean" else (1,)
    other = (count - 1, count + 1) if operation == "mean" else ()
    explains: dict[Cause, Callable[[], bool]] = {
        Cause.COPIED: lambda: _is_copied(cell, table),
        Cause.PARTS_ROUNDED: lambda: any(
            cell.interval.meets(wanted) for wanted in _of_rounded(parts, operation)
        ),
        Cause.DIVISOR: lambda: any(cell.interval.meets(whole.times(1 / n)) for n in other),
        Cause.PART_LEFT_OUT: lambda: any(
            cell.interval.meets(rest.times(1 / n)) for rest in without for n in divisors
        ),
    }
    return next((cause for cause, fits in explains.items() if fits()), None)


def _is_copied(cell: Cell, table: Table) -> bool:
    """Whether another metric of the same row has the same digits."""
    alike = (o for o in table.cells if o.metric != cell.metric and o.unit == cell.unit)
    return len(cell.number.digits) > 2 and any(
        o.number.text == cell.number.text and o.key(METRIC) == cell.key(METRIC) for o in alike
    )


def _of_rounded(parts: Sequence[Cell], operation: str) -> Iterator[Interval]:
    """What parts with fewer digits would have given."""
    numbers = [Decimal(part.number.text) for part in parts]
    finest = max(-int(number.as_tuple().exponent) for number in numbers)
    for digits in range(finest):
        quantum = Decimal(1).scaleb(-digits)
        for mode in (ROUND_CEILING, ROUND_FLOOR, ROUND_DOWN, ROUND_HALF_EVEN):
            rounded = [float(number.quantize(quantum, mode)) for number in numbers]
            value = sum(rounded) / (len(rounded) if operation == "mean" else 1)
            yield Interval(value, value)
