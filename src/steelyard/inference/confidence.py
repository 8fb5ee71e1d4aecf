"""Which ratios the data still allow: a confidence sequence on a grid, verdict and interval alike.

A ratio is out once its one-sided test has crossed at any look so far. The low end lies below
all ratios that no upward test has put out, the high end above all that no downward test has.
Nothing is bisected: at few visits the ratios put out are not a half-line, and a shortcut would
let interval and verdict contradict each other. All ratios are natural logarithms, other over
baseline.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Hashable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from steelyard.inference import paired_t
from steelyard.inference.exact import OneSided, Pool, first_crossings
from steelyard.inference.weights import Floats
from steelyard.inference.welch import lows

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
    """

    values: Floats
    other: npt.NDArray[np.bool_]
    pool: Pool
    horizon: int
    order: Order | None = None
    once: bool = False
    engine: Literal["exact", "normal"] = "exact"
    covariate: Floats | None = None
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


class Asked(NamedTuple):
    """Whether the upward tests of these ratios have crossed, at one rate."""

    stream: Stream
    shifts: Floats
    alpha: float


Search = Generator[Asked, None, float | None]
"""A search for an end: it asks, and goes on when what it has asked is tested."""


def crossings(stream: Stream, shifts: Floats, alpha: float) -> list[int | None]:
    """For each ratio of ``shifts``, the look at which its upward test crossed."""
    find_out([Asked(stream, shifts, alpha)])
    return [stream.tested.looks[shift, alpha] for shift in shifts.tolist()]


def find_out(asked: Sequence[Asked]) -> None:
    """Tests all that is asked and not yet known, in one pass over the looks.

    The streams are one and its mirror: both have the same pool. One pass weighs all ratios of a
    look together, which costs far less than one after the other.
    """
    wanted = {
        id(each.stream): (each.stream, dict[tuple[float, float], int | None]()) for each in asked
    }
    for each in asked:
        known, missing = each.stream.tested.looks, wanted[id(each.stream)][1]
        places = [(shift, each.alpha) for shift in each.shifts.tolist()]
        missing |= {place: None for place in places if place not in known}
    _test([(stream, list(missing)) for stream, missing in wanted.values() if missing])


def _test(wanted: Sequence[tuple[Stream, list[tuple[float, float]]]]) -> None:
    residuals: list[Floats] = []
    tests: list[OneSided] = []
    for stream, places in wanted:
        shifts = list(dict.fromkeys(shift for shift, _ in places))
        before = sum(map(len, residuals))
        rows = {shift: before + row for row, shift in enumerate(shifts)}
        residuals.append(stream.values - np.multiply.outer(np.array(shifts), stream.other))
        tests += [OneSided(rows[shift], 1, rate) for shift, rate in places]
    if not tests:
        return
    stream = wanted[0][0]
    looks = iter(
        first_crossings(
            np.concatenate(residuals),
            stream.pool,
            tests,
            stream.horizon,
            once=stream.once,
            covariate=stream.covariate,
        )
    )
    for stream, places in wanted:
        stream.tested.looks.update((place, next(looks)) for place in places)


def find_ends(stream: Stream, margin_log: float, rates: Sequence[float], estimate: float) -> None:
    """Tests side by side what both ends at all of these rates will ask for, one after the other.

    They then answer from what is known, and say the same as without.
    """
    sides = ((stream, estimate), (stream.mirrored(), -estimate))
    _side_by_side([_low_end(one, margin_log, rate, at) for rate in rates for one, at in sides])


def _side_by_side(searches: Sequence[Search]) -> list[float | None]:
    """What each search finds; in every round what all of them ask is tested together."""
    found: list[float | None] = [None] * len(searches)
    under_way = dict(enumerate(searches))
    while under_way:
        asked = []
        for place, search in list(under_way.items()):
            try:
                asked.append(next(search))
            except StopIteration as end:
                found[place] = end.value
                del under_way[place]
        find_out(asked)
    return found


def low_end(stream: Stream, margin_log: float, alpha: float, estimate: float) -> float | None:
    """The largest tested ratio below all that are still allowed; ``None`` when not bounded.

    A ratio is out when both tests have put it out: the exact one and that for unequal spreads.
    """
    return _side_by_side([_low_end(stream, margin_log, alpha, estimate)])[0]


def _low_end(stream: Stream, margin_log: float, alpha: float, estimate: float) -> Search:
    by_spread = float(lows_of(stream, alpha)[-1])
    if math.isinf(by_spread):
        return None
    if stream.engine == "normal":
        return by_spread
    exact = yield from _exact_low_end(stream, margin_log, alpha, estimate, by_spread)
    return None if exact is None else min(exact, by_spread)


def lows_of(stream: Stream, alpha: float) -> Floats:
    """What the test beside the exact one has put out after each look, or that on pairs."""
    known = stream.tested.lows
    if alpha not in known:
        known[alpha] = _lows(stream, alpha)
    return known[alpha]


def _lows(stream: Stream, alpha: float) -> Floats:
    if stream.engine == "normal":
        return paired_t.lows(stream.values, stream.other, stream.horizon, alpha)
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
) -> Search:
    """The same by the exact test alone; where it is above ``enough``, something above ``enough``.

    Ratios are tested from the smallest up until one is allowed; then the steps around that one
    are divided until they are small against the distance to ``estimate`` or to the margin.
    """
    grid = fixed_grid(margin_log)
    asked = _up_to(enough, grid)
    allowed = yield from _first_allowed(stream, asked, alpha)
    if allowed == 0:
        return None
    if allowed == len(asked):
        return float(asked[-1])
    bracket = grid[:allowed][-2:], float(grid[allowed])
    return (
        yield from _refined(
            stream, bracket, alpha, margin_log=margin_log, estimate=estimate, enough=enough
        )
    )


def _up_to(enough: float, points: Floats) -> Floats:
    """Those below ``enough`` and the next two: with these out, no later step goes back below it."""
    return points[: int(np.searchsorted(points, enough)) + 2]


def high_end(stream: Stream, margin_log: float, alpha: float, estimate: float) -> float | None:
    """The smallest tested ratio above all that are still allowed; ``None`` when not bounded."""
    end = low_end(stream.mirrored(), margin_log, alpha, -estimate)
    return None if end is None else -end


def _first_allowed(stream: Stream, shifts: Floats, alpha: float) -> Generator[Asked, None, int]:
    """Index of the first ratio whose upward test has not crossed; ``len(shifts)`` without any."""
    for start in range(0, len(shifts), _BATCH):
        asked = shifts[start : start + _BATCH]
        yield Asked(stream, asked, alpha)
        looks = crossings(stream, asked, alpha)
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
) -> Search:
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
        allowed = yield from _first_allowed(stream, asked, alpha)
        if allowed == len(asked) < len(parts):
            return float(asked[-1])
        above = float(parts[allowed]) if allowed < len(parts) else above
        below = np.concatenate([below[:1], parts[:allowed]])[-2:]
    return float(below[-1])
