"""How far the open tests of a comparison have come, and how many visits they still take.

A verdict holds once both tests, that of the order and Welch's, have rejected each of its bounds. So
it takes what the slowest of those still open takes, from where that one stands: an estimate may lie
far from 0 and the order, or the spread of one arm, still not exclude it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from steelyard.inference import welch
from steelyard.inference.exact import SequentialTests
from steelyard.inference.probability.distributions import normal_bound, t_bound
from steelyard.inference.ratio_tests import Inference
from steelyard.inference.stream import Stream

_PLAUSIBLE = np.linspace(-1.0, 1.0, 9)
"""How the visits to come may turn out, in standard errors from what is expected: 2 of 3 do."""
_GROWTHS = np.geomspace(1.0, 128.0, 512)[1:]


class OpenTest(NamedTuple):
    """A test that has not rejected its bound.

    ``reached`` is its statistic and ``asked`` what that has to exceed, in standard errors; with
    ever more visits ``asked_at_last``, as Student's law becomes the normal one. ``sign`` is -1
    where a smaller effect speaks for rejecting.
    """

    sign: int
    reached: float
    asked: float
    asked_at_last: float

    def growth(self, shift: float) -> float:
        """How many times the visits it takes if those to come are ``shift`` standard errors better.

        The visits so far keep what they say. The statistic of ``x`` times the visits is expected at
        ``reached * sqrt(x)``; what is not known of the effect and the noise of further visits
        together give it a standard deviation of ``sqrt(x - 1)``.
        """
        found = self.reached * np.sqrt(_GROWTHS) + self.sign * shift * np.sqrt(_GROWTHS - 1)
        asked = self.asked_at_last + (self.asked - self.asked_at_last) / _GROWTHS
        enough = np.flatnonzero(found > asked)
        return float(_GROWTHS[enough[0]]) if len(enough) else math.inf


class Growth(NamedTuple):
    """How many times the visits some verdict takes; ``math.inf``: none is in sight."""

    least: float
    most: float


class _Bound(NamedTuple):
    """One that a verdict rejects; ``place`` is its own in ``RunningTests.at_bounds``."""

    place: int
    sign: int
    bound_log: float
    alpha: float


def growth_to_decide(tests: Inference, margin_log: float, alpha: float) -> Growth:
    """Over the plausible effects; not above 1 where what is open is no test of a bound."""
    by_order = tests.side.running.at_bounds(tests.side.sign, margin_log, alpha)
    verdicts = (
        [_Bound(0, 1, 0.0, alpha / 2)],
        [_Bound(1, -1, 0.0, alpha / 2)],
        [_Bound(2, 1, -margin_log, alpha), _Bound(3, -1, -margin_log, alpha)],
    )
    found = [
        [test for bound in bounds for test in _open(tests, by_order, bound)] for bounds in verdicts
    ]
    needed = [
        min(max((test.growth(shift) for test in own), default=1.0) for own in found)
        for shift in _PLAUSIBLE.tolist()
    ]
    return Growth(min(needed), max(needed))


def _open(tests: Inference, by_order: SequentialTests, bound: _Bound) -> Iterator[OpenTest]:
    """Those of one bound. That of the order is none where it lacks but orders, not visits."""
    visits = tests.stream.visits
    crossed, height = by_order.crossed_at(bound.place), by_order.height(bound.place, visits)
    still = crossed is None or crossed > visits
    if still and height is not None and height.reached < height.asked:
        yield OpenTest(bound.sign, height.reached, height.asked, height.asked)
    side = tests.side if bound.sign > 0 else tests.side.mirrored
    if side.look_above(bound.bound_log, bound.alpha) is None:
        yield from _by_spreads(tests.stream, side.sign, bound)


def _by_spreads(stream: Stream, sign: int, bound: _Bound) -> Iterator[OpenTest]:
    look = stream.last_look
    found = welch.mean_of(welch.by_machine(stream, look, sign))
    level = welch.level_at(stream, bound.alpha, look)
    if found is not None and found.standard_error_log > 0 and level > 0:
        reached = (found.difference_log - bound.bound_log) / found.standard_error_log
        asked, at_last = t_bound(level, found.freedom), normal_bound(level)
        yield OpenTest(bound.sign, reached, float(asked), float(at_last))
