"""The size of an effect: the interval of a look, and the ratios that no look has rejected.

A ratio is rejected once its one-sided tests have crossed their boundaries at any look so far. The
ratios that are left are a confidence sequence of *one constant ratio*: it can only shrink, and
where the ratio changes during the study it keeps what early looks have excluded. The interval of
the present look therefore also holds what Welch's test allows of all visits at this look, and the
estimate, which is of the same visits (a repeated confidence interval; Jennison and Turnbull 1989).
It contains the sequence, so it covers a constant ratio at least as often.

There is no bisection: at few visits the rejected ratios are not a half-line. All ratios are
natural logarithms, other over baseline.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from steelyard.inference.noise.robust import Floats
from steelyard.inference.running import Point, RunningTests
from steelyard.inference.stream import Stream

_FINE_STEPS = 40
_STEPS_PER_MARGIN = 8
_GROWTH = 1.25
_REACH = 8.0
_PARTS = 16
_ROUNDS = 6
_STEPS_PER_HALF_WIDTH = 12
_FINEST_PER_MARGIN = 64

Looks = list[int | None]
"""For each ratio the look at which its upward test crossed, ``None`` while it has not."""


class Interval(NamedTuple):
    """Both ends; ``None`` where the ratio is not bounded."""

    low: float | None
    high: float | None

    @classmethod
    def of_ends(cls, low: float | None, mirrored_low: float | None) -> Interval:
        """Of the low ends of a comparison and of its mirror."""
        return cls(low, None if mirrored_low is None else -mirrored_low)

    @property
    def empty(self) -> bool:
        """Whether every ratio is rejected."""
        return self.low is not None and self.high is not None and self.low > self.high

    def signed(self, sign: float) -> Interval:
        """That of the opposite effect where the sign is negative."""
        if sign > 0:
            return self
        low, high = (None if end is None else -end for end in self)
        return Interval(high, low)


UNBOUNDED = Interval(None, None)


class Size(NamedTuple):
    """What the visits say of the ratio: at the present look, and by all looks if it is constant.

    ``constant`` is empty where every constant ratio was rejected at some look.
    """

    present: Interval
    constant: Interval

    def changes(self, estimate_log: float) -> bool:
        """Whether no constant ratio, or not the one estimated of all visits, fits all looks."""
        low, high = self.constant
        below = low is not None and estimate_log < low
        return self.constant.empty or below or (high is not None and estimate_log > high)


class Rejections:
    """The upward tests of one stream. ``running`` keeps those that were made of it so far."""

    def __init__(self, stream: Stream, running: RunningTests | None = None) -> None:
        self.visits = self.stream = stream
        self.running = running or RunningTests(stream)
        self.sign = 1

    @cached_property
    def mirrored(self) -> Rejections:
        """The downward tests, as the upward tests of the mirrored stream."""
        other_side = Rejections(self.visits, self.running)
        other_side.stream, other_side.sign = self.stream.mirrored(), -self.sign
        return other_side

    def looks(self, shifts: Floats, alpha: float) -> Looks:
        """The look at which the re-randomisation test of each ratio crossed."""
        run_together([Asked(self, shifts, alpha)])
        return [self.running.look(point, self.visits) for point in self.points(shifts, alpha)]

    def points(self, shifts: Floats, alpha: float) -> list[Point]:
        """The tests of these ratios."""
        return [Point(self.sign, shift, alpha) for shift in shifts.tolist()]

    def below(self, alpha: float) -> Floats:
        """The ratio below which Welch's test has rejected all by each look; never falling."""
        return np.asarray(np.maximum.accumulate(self.lows(alpha)))

    def lows(self, alpha: float) -> Floats:
        """The ratio below which Welch's test rejects all at each look by itself."""
        count = len(self.visits.looks)
        return np.array(self.running.lows(self.sign, alpha, self.visits, count))

    def look_above(self, bound: float, alpha: float) -> int | None:
        """The first look at which Welch's test rejects all ratios up to ``bound``."""
        for count, look in enumerate(self.visits.looks, start=1):
            if self.running.lows(self.sign, alpha, self.visits, count)[-1] > bound:
                return look
        return None


class Asked(NamedTuple):
    """Whether the upward tests of these ratios have crossed, at one rate."""

    side: Rejections
    shifts: Floats
    alpha: float


Search = Generator[Asked, Looks, float | None]
"""A search for an end: it asks for tests, and goes on with their looks."""


def run_together(asked: Sequence[Asked]) -> None:
    """Make all tests that are asked for and were not made yet.

    All sides are of one stream and its mirror.
    """
    if asked:
        first = asked[0].side
        points = [p for side, shifts, alpha in asked for p in side.points(shifts, alpha)]
        first.running.make(points, first.visits)


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


def sizes(
    side: Rejections, margin_log: float, alphas: Sequence[float], estimate_log: float
) -> list[Size]:
    """The size at each rate.

    All ends are searched for side by side; each is the same as when it is searched for alone.
    """
    sides = ((side, estimate_log), (side.mirrored, -estimate_log))
    searches = [_low_end(one, margin_log, rate, at) for rate in alphas for one, at in sides]
    ends = _side_by_side(searches)
    constant = [
        Interval.of_ends(low, high) for low, high in zip(ends[::2], ends[1::2], strict=True)
    ]
    return [
        Size(_present(side, rate, each, estimate_log), each)
        for rate, each in zip(alphas, constant, strict=True)
    ]


def _present(side: Rejections, alpha: float, constant: Interval, estimate_log: float) -> Interval:
    """What some test allows at this look, and the estimate."""
    by_welch = Interval.of_ends(*(_bounded(each.lows(alpha)[-1]) for each in (side, side.mirrored)))
    return with_estimate([by_welch] if constant.empty else [by_welch, constant], estimate_log)


def with_estimate(intervals: Sequence[Interval], estimate_log: float) -> Interval:
    """The shortest interval that holds all of these, and the estimate."""
    lows, highs = [each.low for each in intervals], [each.high for each in intervals]
    return Interval(
        None if None in lows else min(estimate_log, *(low for low in lows if low is not None)),
        None if None in highs else max(estimate_log, *(high for high in highs if high is not None)),
    )


def _bounded(low: float) -> float | None:
    return float(low) if math.isfinite(low) else None


def _side_by_side(searches: Sequence[Search]) -> list[float | None]:
    """What each search finds; in every round all that they ask for is tested together."""
    found: list[float | None] = [None] * len(searches)
    asked: dict[int, Asked | None] = dict.fromkeys(range(len(searches)))
    while asked:
        for place, question in list(asked.items()):
            search = searches[place]
            try:
                asked[place] = (
                    next(search)
                    if question is None
                    else search.send(question.side.looks(question.shifts, question.alpha))
                )
            except StopIteration as end:
                found[place] = end.value
                del asked[place]
        run_together([question for question in asked.values() if question is not None])
    return found


def _low_end(side: Rejections, margin_log: float, alpha: float, estimate_log: float) -> Search:
    """A ratio is rejected when both tests reject it: re-randomisation, and Welch's."""
    by_welch = float(side.below(alpha)[-1])
    if math.isinf(by_welch):
        return None
    exact = yield from _exact_low_end(side, margin_log, alpha, estimate_log, by_welch)
    return None if exact is None else min(exact, by_welch)


def _exact_low_end(
    side: Rejections, margin_log: float, alpha: float, estimate_log: float, enough: float
) -> Search:
    """The low end by the re-randomisation test alone; any value above ``enough`` is as good.

    Ratios are tested from the smallest up until one is not rejected; then the steps around that
    one are divided until they are small against the distance to the estimate or to the margin.
    """
    grid = fixed_grid(margin_log)
    points = _up_to(enough, grid)
    allowed = yield from _first_allowed(side, points, alpha)
    if allowed == 0:
        return None
    if allowed == len(points):
        return float(points[-1])
    bracket = grid[:allowed][-2:], float(grid[allowed])
    return (
        yield from _refined(
            side, bracket, alpha, margin_log=margin_log, estimate_log=estimate_log, enough=enough
        )
    )


def _up_to(enough: float, points: Floats) -> Floats:
    """Those below ``enough`` and the next two: with these rejected, no later step goes below it."""
    return points[: int(np.searchsorted(points, enough)) + 2]


def _first_allowed(side: Rejections, shifts: Floats, alpha: float) -> Generator[Asked, Looks, int]:
    """Index of the first ratio that is not rejected; ``len(shifts)`` without any."""
    looks = yield Asked(side, shifts, alpha)
    return looks.index(None) if None in looks else len(shifts)


def _refined(
    side: Rejections,
    bracket: tuple[Floats, float],
    alpha: float,
    *,
    margin_log: float,
    estimate_log: float,
    enough: float,
) -> Search:
    """The low end with finer steps: the last two steps below the first allowed ratio, divided.

    Two steps and all of their parts, because the rejected ratios need not be a half-line.
    """
    below, above = bracket
    for _ in range(_ROUNDS):
        low = float(below[-1])
        wanted = max(
            abs(estimate_log - low) / _STEPS_PER_HALF_WIDTH, margin_log / _FINEST_PER_MARGIN
        )
        if above - low <= wanted:
            break
        parts = np.linspace(float(below[0]), above, _PARTS + 1)[1:-1]
        points = _up_to(enough, parts)
        allowed = yield from _first_allowed(side, points, alpha)
        if allowed == len(points) < len(parts):
            return float(points[-1])
        above = float(parts[allowed]) if allowed < len(parts) else above
        below = np.concatenate([below[:1], parts[:allowed]])[-2:]
    return float(below[-1])
