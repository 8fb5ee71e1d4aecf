"""The tests of one comparison that were made so far, which go on when visits are added.

What a test finds by a look is a function of the visits up to that look. So no test is made twice:
not for a longer series, not for its beginning, and not for the mirrored side, which has the same
pool.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from steelyard.inference import welch
from steelyard.inference.exact import OneSided, SequentialTests
from steelyard.inference.noise.robust import Floats
from steelyard.inference.stream import Stream

_ROWS_AT_ONCE = 512


class Point(NamedTuple):
    """The upward test of one ratio at one rate; ``sign`` -1 on the mirrored side."""

    sign: int
    shift: float
    alpha: float


class RunningTests:
    """Everything that was tested of a comparison; ``stream`` is the longest that was seen of it.

    Each method takes the visits to go by, which are a beginning of that stream.
    """

    def __init__(self, stream: Stream) -> None:
        self.stream = stream
        self._places: dict[Point, tuple[_Together, int]] = {}
        self._lows: dict[tuple[int, float], list[float]] = {}
        self._at_bounds: dict[tuple[int, float, float], SequentialTests] = {}

    def follow(self, stream: Stream) -> bool:
        """Whether this is the same comparison with more or fewer visits; if more, go by these."""
        shared = min(len(stream.values), len(self.stream.values))
        if stream.key(shared) != self.stream.key(shared):
            return False
        if len(stream.values) > shared:
            self.stream = stream
        return True

    def make(self, points: Iterable[Point], visits: Stream) -> None:
        """Make all of these tests by the last of the visits, in one pass over the looks.

        One pass weighs all ratios of a look together, which costs far less than one after the
        other.
        """
        asked = list(dict.fromkeys(points))
        fresh = [point for point in asked if point not in self._places]
        for start in range(0, len(fresh), _ROWS_AT_ONCE):
            together = _Together(fresh[start : start + _ROWS_AT_ONCE], visits.pool.paths)
            self._places |= {p: (together, i) for i, p in enumerate(together.points)}
        places = [self._places[point] for point in asked]
        still = {id(one): one for one, index in places if one.tests.crossed_at(index) is None}
        for together in still.values():
            together.advance(visits)

    def look(self, point: Point, visits: Stream) -> int | None:
        """The look at which a test that was made has crossed."""
        together, index = self._places[point]
        at = together.tests.crossed_at(index)
        return at if at is not None and at <= visits.visits else None

    def lows(self, sign: int, alpha: float, visits: Stream, count: int) -> Sequence[float]:
        """The ratios below which Welch's test rejects all at the first looks, each by itself."""
        known = self._lows.setdefault((sign, alpha), [])
        while len(known) < count:
            known.append(welch.low(visits, len(known), sign, alpha))
        return known[:count]

    def at_bounds(self, sign: int, margin_log: float, alpha: float) -> SequentialTests:
        """The four tests at 0 and at the margins, as far as they were made."""
        key = (sign, margin_log, alpha)
        if key not in self._at_bounds:
            tests = (
                OneSided(0, 1, alpha / 2),
                OneSided(0, -1, alpha / 2),
                OneSided(1, 1, alpha),
                OneSided(2, -1, alpha),
            )
            paths = self.stream.pool.paths
            self._at_bounds[key] = SequentialTests(tests, paths, measured=True)
        return self._at_bounds[key]


class _Together:
    """Tests that were asked for together, and are made in one pass."""

    def __init__(self, points: Sequence[Point], paths: int) -> None:
        self.points = points
        rows = list(dict.fromkeys((point.sign, point.shift) for point in points))
        place = {row: index for index, row in enumerate(rows)}
        self._signs = np.array([float(sign) for sign, _ in rows])
        self._shifts = np.array([shift for _, shift in rows])
        self.tests = SequentialTests(
            [OneSided(place[p.sign, p.shift], 1, p.alpha) for p in points], paths
        )

    def advance(self, visits: Stream) -> None:
        """Make the looks up to the last of the visits that were not made yet."""
        if self.tests.looked < visits.visits:
            self.tests.advance(
                self._residuals(visits),
                visits.pool,
                visits.horizon,
                once=visits.once,
                covariate=visits.covariate,
                machines=visits.machines,
            )

    def _residuals(self, visits: Stream) -> Floats:
        signed = np.multiply.outer(self._signs, visits.values)
        return np.asarray(signed - np.multiply.outer(self._shifts, visits.other))
