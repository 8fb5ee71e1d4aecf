"""Little's law (1961): throughput times mean response time is the mean number in flight.

No more can be in flight than there are users. A mean over n samples has an error of its own: two
standard errors are allowed for, at a coefficient of variation of one, and one more user for a
probe that measures beside them.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Iterator

from steelyard.consistency.cells import PHASE, Cell, Levels, Table
from steelyard.consistency.findings import Finding, Rule
from steelyard.consistency.making import found
from steelyard.consistency.quantities import RATE, TIME

_RESPONSE = {"latency", "response", "rtt", "request", "lag"}
_WHOLE_PHASES = {"", "total", "all", "overall"}
_UNLIKE = 2.0
_ROUNDING = 0.02
"""Averages over windows that differ a little at their ends."""


def check(table: Table) -> Iterator[Finding]:
    for group in table.groups:
        rates = [c for c in group.values() if _has(c, RATE) and c.statistic in (None, "mean")]
        times = [c for c in group.values() if _is_response(c)]
        if len(rates) == 1 and rates[0].load:
            yield from (each for time in times for each in _held(rates[0], time, rates[0].load))
    yield from _unlike(table)


def _has(cell: Cell, dimension: tuple[int, int]) -> bool:
    return cell.parsed_unit is not None and cell.parsed_unit.dimension == dimension


def _is_response(cell: Cell) -> bool:
    return (
        _has(cell, TIME)
        and cell.statistic in (None, "mean")
        and bool(cell.words & _RESPONSE)
        and cell.level(PHASE).lower() in _WHOLE_PHASES
    )


def _held(rate: Cell, time: Cell, users: float) -> Iterator[Finding]:
    in_flight = rate.base * time.base
    samples = time.row.get("samples", "")
    few = samples.isdigit() and int(samples) > 0
    error = 2 / math.sqrt(int(samples)) if few else 0.0
    most = (users + (1 if few else 0)) * (1 + error + _ROUNDING)
    if in_flight.low > most:
        unit = time.parsed_unit
        high = users / rate.base.middle / (unit.scale if unit else 1.0)
        yield found(Rule.LITTLES_LAW, time, high=high, others=[rate])


def _unlike(table: Table) -> Iterator[Finding]:
    """More throughput with longer responses at one load: not the same number in flight.

    Systems that differ in words alone are compared, never two levels of a load or a rate.
    """
    alike: dict[Levels, list[tuple[Cell, Cell]]] = defaultdict(list)
    for group in table.groups:
        rates = [c for c in group.values() if _has(c, RATE) and c.statistic in (None, "mean")]
        times = [c for c in group.values() if _is_response(c)]
        if len(rates) == len(times) == 1:
            numbers = tuple((n, t) for n, t in rates[0].levels.items() if _is_number(t))
            alike[(*numbers, *rates[0].name, *times[0].name)].append((rates[0], times[0]))
    for pairs in alike.values():
        worst = max(itertools.combinations(pairs, 2), key=_concordance, default=None)
        if worst is not None and _concordance(worst) >= _UNLIKE:
            (rate, time), other = sorted(worst, key=lambda pair: pair[1].base.middle)
            in_flight = other[0].base * other[1].base
            wanted = in_flight.middle / rate.base.middle
            unit = time.parsed_unit
            low = wanted / (unit.scale if unit else 1.0)
            yield found(Rule.IN_FLIGHT, time, low=low, others=[rate, *other])


def _concordance(pairs: tuple[tuple[Cell, Cell], ...]) -> float:
    """By what factor both throughput and response time are larger in one of two systems."""
    (rate, time), (other_rate, other_time) = pairs
    if min(c.base.low for pair in pairs for c in pair) <= 0:
        return 0.0
    faster, longer = rate.base / other_rate.base, time.base / other_time.base
    return max(min(faster.low, longer.low), min(1 / faster.high, 1 / longer.high))


def _is_number(text: str) -> bool:
    return text.replace(".", "", 1).isdigit()
