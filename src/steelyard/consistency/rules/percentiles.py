"""Order statistics in order, and what they leave for mean and standard deviation.

A quantile never falls as its share grows. The mean lies between the sums of the shares times the
quantiles at their lower and upper ends. The standard deviation is at most
sqrt((max - mean)(mean - min)) (Bhatia and Davis 2000), times sqrt(n / (n - 1)) where it divides by
n - 1; mean and median differ by at most one standard deviation (Hotelling and Solomons 1932).
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Iterator, Sequence

from steelyard.consistency.cells import METRIC, STATISTIC, Cell, Levels, Table
from steelyard.consistency.findings import Finding, Rule
from steelyard.consistency.making import found

_FEWEST = 2
"""Samples, where a table does not say how many: the sample deviation is the farthest off then."""
_INTERPOLATED = 0.02
"""Quantiles may be interpolated between samples: so much of the mean is no disagreement."""


def check(table: Table) -> Iterator[Finding]:
    for one in _distributions(table):
        order = sorted((c for c in one if isinstance(c.statistic, float)), key=_share)
        named = {c.statistic: c for c in one if isinstance(c.statistic, str)}
        yield from _falls(order)
        if "mean" in named:
            yield from _mean(named["mean"], order)
        if "sd" in named:
            yield from _spread(named["sd"], named.get("mean"), order)


def _distributions(table: Table) -> Iterator[list[Cell]]:
    families: dict[tuple[Levels, str, str], list[Cell]] = defaultdict(list)
    for cell in table.cells:
        if cell.statistic is not None:
            key = (cell.key(METRIC, STATISTIC), cell.quantity, cell.unit)
            families[key].append(cell)
    yield from (one for one in families.values() if len(one) > 1)


def _share(cell: Cell) -> float:
    return float(cell.statistic or 0.0)


def _falls(order: Sequence[Cell]) -> Iterator[Finding]:
    for low, high in itertools.pairwise(order):
        if low.interval.surely_above(high.interval):
            yield found(Rule.PERCENTILES, high, low=low.number.value, others=[low])
        elif _share(low) == _share(high) and high.interval.surely_above(low.interval):
            yield found(Rule.PERCENTILES, high, high=low.number.value, others=[low])


def _mean(mean: Cell, order: Sequence[Cell]) -> Iterator[Finding]:
    """The mean within what the quantiles leave."""
    ends = {_share(cell): cell for cell in order}
    least = ends[0.0].interval.low if 0.0 in ends else None
    if least is None and mean.is_measured and ends:
        least = 0.0
    most = ends[100.0].interval.high if 100.0 in ends else None
    low = None if least is None else _integral(order, least, None)
    high = None if most is None else _integral(order, None, most)
    if low is not None and mean.interval.high < low * (1 - _INTERPOLATED):
        yield found(Rule.PERCENTILES, mean, low=low, others=order)
    if high is not None and mean.interval.low > high * (1 + _INTERPOLATED):
        yield found(Rule.PERCENTILES, mean, high=high, others=order)


def _integral(order: Sequence[Cell], least: float | None, most: float | None) -> float:
    """Of the lower ends of the shares, from ``least`` on, or of the upper ones, up to ``most``."""
    points = [(_share(cell), cell.interval) for cell in order if 0 < _share(cell) < 100]
    if least is not None:
        values = [least, *(interval.low for _, interval in points)]
    else:
        values = [*(interval.high for _, interval in points), most or 0.0]
    shares = [0.0, *(share for share, _ in points), 100.0]
    widths = [after - before for before, after in itertools.pairwise(shares)]
    return sum(w * v for w, v in zip(widths, values, strict=True)) / 100


def _spread(sd: Cell, mean: Cell | None, order: Sequence[Cell]) -> Iterator[Finding]:
    ends = {_share(cell): cell for cell in order}
    if sd.interval.high < 0:
        yield found(Rule.SPREAD, sd, low=0.0)
    if mean is not None and {0.0, 100.0} <= set(ends):
        least, most = ends[0.0].interval.low, ends[100.0].interval.high
        low, high = mean.interval.low, mean.interval.high
        widest = max((most - low) * (high - least), 0.0)
        if least <= low <= high <= most:  # else the mean itself is wrong, and said so
            samples = _samples(sd)
            bound = math.sqrt(widest * samples / (samples - 1))
            if sd.interval.low > bound:
                yield found(Rule.SPREAD, sd, high=bound, others=[mean, ends[0.0], ends[100.0]])
    if mean is not None and 50.0 in ends:
        away = mean.interval - ends[50.0].interval
        least = 0.0 if away.low <= 0 <= away.high else min(abs(away.low), abs(away.high))
        if sd.interval.high < least:
            yield found(Rule.SPREAD, sd, low=least, others=[mean, ends[50.0]])


def _samples(cell: Cell) -> int:
    text = cell.row.get("samples", "")
    return max(int(text), _FEWEST) if text.isdigit() else _FEWEST
