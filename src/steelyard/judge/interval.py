"""Which ratios the data still allow: a confidence sequence on a grid, verdict and interval alike.

A ratio is out once its one-sided test has crossed at any look so far. The low end lies below
all ratios that no upward test has put out, the high end above all that no downward test has.
Nothing is bisected: at few visits the ratios put out are not a half-line, and a shortcut would
let interval and verdict contradict each other. All ratios are natural logarithms, other over
baseline.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from steelyard.judge import normal
from steelyard.judge.exact import OneSided, Pool, first_crossings
from steelyard.judge.scores import Floats
from steelyard.judge.welch import lows

_FINE_STEPS = 40
_STEPS_PER_MARGIN = 8
_GROWTH = 1.25
_REACH = 8.0
_BATCH = 15
_PARTS = 16
_ROUNDS = 6
_STEPS_PER_HALF_WIDTH = 12
_FINEST_PER_MARGIN = 64


class Order(NamedTuple):
    """A pool in one value: the coin it was drawn from, the places of its rows, their systems."""

    coin: Hashable
    slots: tuple[int, ...]
    others: tuple[bool, ...]

    def first(self, visits: int) -> Order:
        """The pool of the first visits."""
        return Order(self.coin, self.slots[:visits], self.others[:visits])


@dataclass(frozen=True)
class Tested:
    """What was found out of a stream so far: nothing is tested twice.

    The look at which each ratio was put out by its upward test, by ratio and rate; what the test
    beside the exact one has put out, by rate.
    """

    looks: dict[tuple[float, float], int | None] = field(default_factory=dict)
    lows: dict[float, Floats] = field(default_factory=dict)


@dataclass(frozen=True)
class Stream:
    """One comparison as the engine sees it, visit after visit, failed visits left out.

    ``values`` are natural logarithms, larger is better; ``other`` marks the visits of the other
    system; ``pool`` holds the signs of the observed and all simulated sequences, one row per
    value; ``horizon`` is the budget in visits, fixed before the first. ``order`` identifies the
    pool, so that a study under way need not be judged from its start after each visit. ``once``:
    judged by one look after the last visit, which may spend everything. ``engine``: by both
    tests, or by that on pairs alone. ``covariate``: what of a visit was known before its system,
    in one or several columns.
    ``rates`` are those of all intervals that will be asked for, so that one pass serves them.
    """

    values: Floats
    other: npt.NDArray[np.bool_]
    pool: Pool
    horizon: int
    order: Order | None = None
    once: bool = False
    engine: Literal["exact", "normal"] = "exact"
    covariate: Floats | None = None
    rates: tuple[float, ...] = ()
    tested: Tested = field(default_factory=Tested, compare=False, repr=False)

    def mirrored(self) -> Stream:
        """The same comparison with good and bad swapped: low ends become high ends."""
        return self._mirror

    @cached_property
    def _mirror(self) -> Stream:
        return replace(self, values=-self.values, tested=Tested())

    def key(self, visits: int) -> Hashable:
        """What the first visits are, in one value; ``None`` when the pool is not identified."""
        if self.order is None:
            return None
        values = self.values[:visits].tobytes()
        beside = b"" if self.covariate is None else self.covariate[:visits].tobytes()
        return (self.order.first(visits), values, beside, self.horizon, self.engine)


def fixed_grid(margin_log: float) -> Floats:
    """Ratios that are tested whatever the data: fine to 5 margins, then by quarters beyond ±8.

    Holds 0 and both margins exactly; symmetric.
    """
    fine = margin_log * np.arange(_FINE_STEPS + 1) / _STEPS_PER_MARGIN
    tail = [fine[-1] * _GROWTH]
    while tail[-1] < _REACH:
        tail.append(tail[-1] * _GROWTH)
    right = np.concatenate([fine, tail])
    return np.concatenate([-right[:0:-1], right])


def crossings(
    stream: Stream, shifts: Floats, alpha: float, beside: tuple[float, ...] = ()
) -> list[int | None]:
    """For each ratio of ``shifts``, the look at which its upward test crossed.

    What has to be tested is tested at the rates ``beside`` as well.
    """
    known = stream.tested.looks
    missing = np.array([shift for shift in shifts.tolist() if (shift, alpha) not in known])
    if len(missing):
        known |= _tested(stream, missing, tuple(dict.fromkeys((alpha, *beside))))
    return [known[shift, alpha] for shift in shifts.tolist()]


def _tested(
    stream: Stream, shifts: Floats, rates: tuple[float, ...]
) -> dict[tuple[float, float], int | None]:
    asked = [(row, rate) for row in range(len(shifts)) for rate in rates]
    looks = first_crossings(
        stream.values - np.multiply.outer(shifts, stream.other),
        stream.pool,
        [OneSided(row, 1, rate) for row, rate in asked],
        stream.horizon,
        once=stream.once,
        covariate=stream.covariate,
    )
    places = [(float(shifts[row]), rate) for row, rate in asked]
    return dict(zip(places, looks, strict=True))


def low_end(stream: Stream, margin_log: float, alpha: float, estimate: float) -> float | None:
    """The largest tested ratio below all that are still allowed; ``None`` when not bounded.

    A ratio is out when both tests have put it out: the exact one and that for unequal spreads.
    """
    by_spread = float(lows_of(stream, alpha)[-1])
    if math.isinf(by_spread):
        return None
    if stream.engine == "normal":
        return by_spread
    exact = _exact_low_end(stream, margin_log, alpha, estimate, by_spread)
    return None if exact is None else min(exact, by_spread)


def lows_of(stream: Stream, alpha: float) -> Floats:
    """What the test beside the exact one has put out after each look, or that on pairs."""
    known = stream.tested.lows
    if alpha not in known:
        known[alpha] = _lows(stream, alpha)
    return known[alpha]


def _lows(stream: Stream, alpha: float) -> Floats:
    if stream.engine == "normal":
        return normal.lows(stream.values, stream.other, stream.horizon, alpha)
    return lows(
        stream.values,
        stream.other,
        stream.horizon,
        alpha,
        once=stream.once,
        covariate=stream.covariate,
    )


def _exact_low_end(
    stream: Stream, margin_log: float, alpha: float, estimate: float, enough: float
) -> float | None:
    """The same by the exact test alone; where it is above ``enough``, something above ``enough``.

    Ratios are tested from the smallest up until one is allowed; then the steps around that one
    are divided until they are small against the distance to ``estimate`` or to the margin.
    """
    grid = fixed_grid(margin_log)
    asked = _up_to(enough, grid)
    allowed = _first_allowed(stream, asked, alpha, stream.rates)
    if allowed == 0:
        return None
    if allowed == len(asked):
        return float(asked[-1])
    bracket = grid[:allowed][-2:], float(grid[allowed])
    return _refined(stream, bracket, alpha, margin_log=margin_log, estimate=estimate, enough=enough)


def _up_to(enough: float, points: Floats) -> Floats:
    """Those below ``enough`` and the next two: with these out, no later step goes back below it."""
    return points[: int(np.searchsorted(points, enough)) + 2]


def high_end(stream: Stream, margin_log: float, alpha: float, estimate: float) -> float | None:
    """The smallest tested ratio above all that are still allowed; ``None`` when not bounded."""
    end = low_end(stream.mirrored(), margin_log, alpha, -estimate)
    return None if end is None else -end


def _first_allowed(
    stream: Stream, shifts: Floats, alpha: float, beside: tuple[float, ...] = ()
) -> int:
    """Index of the first ratio whose upward test has not crossed; ``len(shifts)`` without any."""
    for start in range(0, len(shifts), _BATCH):
        looks = crossings(stream, shifts[start : start + _BATCH], alpha, beside)
        if None in looks:
            return start + looks.index(None)
    return len(shifts)


def _refined(
    stream: Stream,
    bracket: tuple[Floats, float],
    alpha: float,
    *,
    margin_log: float,
    estimate: float,
    enough: float,
) -> float:
    """The low end with finer steps: the last two steps below the first allowed ratio, divided.

    Two steps and all of their parts, because the ratios put out need not be a half-line.
    """
    below, above = bracket
    for _ in range(_ROUNDS):
        low = float(below[-1])
        wanted = max(abs(estimate - low) / _STEPS_PER_HALF_WIDTH, margin_log / _FINEST_PER_MARGIN)
        if above - low <= wanted:
            break
        parts = np.linspace(float(below[0]), above, _PARTS + 1)[1:-1]
        asked = _up_to(enough, parts)
        allowed = _first_allowed(stream, asked, alpha)
        if allowed == len(asked) < len(parts):
            return float(asked[-1])
        above = float(parts[allowed]) if allowed < len(parts) else above
        below = np.concatenate([below[:1], parts[:allowed]])[-2:]
    return float(below[-1])
