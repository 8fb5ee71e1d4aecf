"""Rate times time is work; a mean times a count is a total; any product that units allow.

Units say which products are possible (dimensional analysis, Buckingham 1914), the groups of the
table which of them hold. Where the work is not in the table, it grows with the load: the work of
one user is the same at every level.
"""

from __future__ import annotations

import statistics
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from steelyard.consistency.cells import Cell, Levels, Table
from steelyard.consistency.findings import Finding, Rule
from steelyard.consistency.making import differs
from steelyard.consistency.printed import Interval
from steelyard.consistency.quantities import COUNT, DATA, DATA_RATE, RATE, TIME, Dimension
from steelyard.consistency.relations import Group

_DURATION = {"duration", "time", "elapsed", "interval", "runtime", "seconds"}
_NO_DURATION = {"latency", "response", "wait", "waiting", "cpu", "per", "think", "lateness"}
_FEWEST = 4
_MOST = 0.75
_NEAR = 20.0
"""In a single group, a product farther from the work than this is not meant to be it."""
_SAME = 1e-4
Product = tuple[Levels, Levels, Levels]


def check(table: Table) -> Iterator[Finding]:
    seen: set[Levels] = set()
    for product in _products(table.groups):
        seen.update(product)
        for group in table.groups:
            yield from _product(product, group)
    yield from _single(table.groups, seen)
    yield from _per_load(table)


def _products(groups: Sequence[Group]) -> list[Product]:
    """Products that hold in most of at least two groups; of each result the best one."""
    tried: Counter[Product] = Counter()
    held: Counter[Product] = Counter()
    for group in groups:
        for product in _possible(group):
            result, one, two = (group[name] for name in product)
            tried[product] += 1
            held[product] += any(result.interval.meets(w) for w in _wanted(result, one, two))
    good = [p for p in held if held[p] > 1 and held[p] >= 2 * tried[p] / 3]
    good.sort(key=lambda p: -held[p])
    best: dict[Levels, Product] = {}
    for product in good:
        best.setdefault(product[0], product)
    return [p for p in best.values() if not _is_inverse(p, best)]


def _is_inverse(product: Product, best: dict[Levels, Product]) -> bool:
    """Of ``c = a b`` written twice, once for each result, one is enough."""
    earlier = [p for p in best.values() if set(p) == set(product)]
    return earlier[0] != product


def _possible(group: Group) -> Iterator[Product]:
    cells = [(n, c) for n, c in group.items() if c.parsed_unit and c.statistic in (None, "mean")]
    for name, rate in cells:
        for other, time in cells:
            if other == name or not _multiplies(rate, time):
                continue
            wanted = _product_of(_dimension(rate), _dimension(time))
            yield from (
                (result, name, other)
                for result, cell in cells
                if result not in (name, other) and _dimension(cell) == wanted
            )


def _multiplies(one: Cell, two: Cell) -> bool:
    """A rate and a duration; a mean time, or a mean size, and a count."""
    if _dimension(one) in (RATE, DATA_RATE):
        return _is_duration(two)
    mean = one.statistic == "mean" and _dimension(one) in (TIME, DATA)
    return mean and _dimension(two) == COUNT and two.number.value > 1


def _is_duration(cell: Cell) -> bool:
    return _dimension(cell) == TIME and cell.statistic is None and bool(
        cell.words & _DURATION) and not cell.words & _NO_DURATION  # fmt: skip


def _dimension(cell: Cell) -> Dimension:
    unit = cell.parsed_unit
    return unit.dimension if unit else COUNT


def _product_of(one: Dimension, two: Dimension) -> Dimension:
    return one[0] + two[0], one[1] + two[1]


def _wanted(result: Cell, one: Cell, two: Cell) -> Iterator[Interval]:
    """The product in the unit of the result: kB as 1,000 or 1,024 B, as tools count."""
    product = one.base * two.base
    theirs = _sizes(one)
    for size in _sizes(result):
        for other in theirs:
            yield product.times(other / theirs[0] / size)


def _sizes(cell: Cell) -> tuple[float, ...]:
    unit = cell.parsed_unit
    return (unit.scale, *unit.others) if unit else (1.0,)


def _product(product: Product, group: Group) -> Iterator[Finding]:
    if not all(name in group for name in product):
        return
    result, one, two = (group[name] for name in product)
    wanted = list(_wanted(result, one, two))
    if not any(result.interval.meets(each) for each in wanted):
        rule = Rule.WORK if _is_duration(two) else Rule.PRODUCT
        yield differs(rule, result, _closest(result, wanted), [one, two])


def _closest(result: Cell, wanted: Sequence[Interval]) -> Interval:
    return min(wanted, key=lambda each: abs(each.middle - result.number.value))


def _single(groups: Sequence[Group], seen: set[Levels]) -> Iterator[Finding]:
    """Groups like no other: a rate, a time and the work nearest to their product."""
    for group in groups:
        by_rate: dict[Levels, list[Product]] = defaultdict(list)
        for product in _possible(group):
            if not seen & {product[0], product[1]} and _is_duration(group[product[2]]):
                by_rate[product[1]].append(product)
        for products in by_rate.values():
            yield from _nearest(group, products)


def _nearest(group: Group, products: Sequence[Product]) -> Iterator[Finding]:
    found: list[tuple[float, Cell, Interval, list[Cell]]] = []
    for product in products:
        result, one, two = (group[name] for name in product)
        wanted = list(_wanted(result, one, two))
        if any(result.interval.meets(each) for each in wanted):
            return
        close = _closest(result, wanted)
        if result.number.value > 0 and close.middle > 0:
            ratio = close.middle / result.number.value
            found.append((max(ratio, 1 / ratio), result, close, [one, two]))
    if found:
        ratio, result, close, others = min(found, key=lambda each: each[0])
        if ratio < _NEAR:
            yield differs(Rule.WORK, result, close, others)


def _per_load(table: Table) -> Iterator[Finding]:
    """Throughput times duration of one user, where the table holds no work."""
    found: dict[tuple[Levels, Levels], list[tuple[Cell, Cell, Interval]]] = defaultdict(list)
    for group in table.groups:
        rates = [c for c in group.values() if _dimension(c) == RATE and c.statistic is None]
        times = [c for c in group.values() if _is_duration(c)]
        if len(rates) == len(times) == 1 and rates[0].load:
            rate, time = rates[0], times[0]
            work = (rate.base * time.base).times(1 / (rate.load or 1.0))
            found[rate.name, time.name].append((rate, time, work))
    for rows in found.values():
        yield from _constant(rows)


def _constant(rows: Sequence[tuple[Cell, Cell, Interval]]) -> Iterator[Finding]:
    if len(rows) < _FEWEST or len({row[0].load for row in rows}) < 2:
        return
    each = statistics.median(work.middle for _, _, work in rows)
    shared = Interval(each * (1 - _SAME), each * (1 + _SAME))
    fits = [work.meets(shared) for _, _, work in rows]
    if sum(fits) < _MOST * len(fits):
        return
    for (rate, time, _), fit in zip(rows, fits, strict=True):
        if not fit:
            wanted = (shared.times(rate.load or 1.0) / time.base).times(1 / _sizes(rate)[0])
            yield differs(Rule.WORK, rate, wanted, [time])
