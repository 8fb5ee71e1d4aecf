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
from dataclasses import dataclass, replace
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
_BATCH = 12
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
class Stream:
    """One comparison as the engine sees it, visit after visit, failed visits left out.

    ``values`` are natural logarithms, larger is better; ``other`` marks the visits of the other
    system; ``pool`` holds the signs of the observed and all simulated sequences, one row per
    value; ``horizon`` is the budget in visits, fixed before the first. ``order`` identifies the
    pool, so that a study under way need not be judged from its start after each visit. ``once``:
    judged by one look after the last visit, which may spend everything. ``engine``: by both
    tests, or by that on pairs alone. ``covariate``: what of a visit was known before its system.
    """

    values: Floats
    other: npt.NDArray[np.bool_]
    pool: Pool
    horizon: int
    order: Order | None = None
    once: bool = False
    engine: Literal["exact", "normal"] = "exact"
    covariate: Floats | None = None

    def mirrored(self) -> Stream:
        """The same comparison with good and bad swapped: low ends become high ends."""
        return replace(self, values=-self.values)

    def key(self, visits: int) -> Hashable:
        """What the first visits are, in one value; ``None`` when the pool is not identified."""
        if self.order is None:
            return None
        values = self.values[:visits].tobytes()
        return (self.order.first(visits), values, self.horizon, self.engine)


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
    stream: Stream, shifts: Floats, side: Literal[1, -1], alpha: float
) -> list[int | None]:
    """For each ratio of ``shifts``, the look at which its test on that side crossed."""
    residuals = stream.values - np.multiply.outer(shifts, stream.other)
    tests = [OneSided(row, side, alpha) for row in range(len(shifts))]
    return first_crossings(
        residuals,
        stream.pool,
        tests,
        stream.horizon,
        once=stream.once,
        covariate=stream.covariate,
    )


def low_end(stream: Stream, margin_log: float, alpha: float, estimate: float) -> float | None:
    """The largest tested ratio below all that are still allowed; ``None`` when not bounded.

    A ratio is out when both tests have put it out: the exact one and that for unequal spreads.
    """
    by_spread = float(lows_of(stream, alpha)[-1])
    if stream.engine == "normal":
        return None if math.isinf(by_spread) else by_spread
    exact = _exact_low_end(stream, margin_log, alpha, estimate)
    return None if exact is None or math.isinf(by_spread) else min(exact, by_spread)


def lows_of(stream: Stream, alpha: float) -> Floats:
    """What the test beside the exact one has put out after each look, or that on pairs."""
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
    stream: Stream, margin_log: float, alpha: float, estimate: float
) -> float | None:
    """The same by the exact test alone.

    Ratios are tested from the smallest up until one is allowed; then the steps around that one
    are divided until they are small against the distance to ``estimate`` or to the margin.
    """
    grid = fixed_grid(margin_log)
    allowed = _first_allowed(stream, grid, alpha)
    if allowed == 0:
        return None
    below = grid[:allowed]
    above = grid[allowed] if allowed < len(grid) else np.inf
    if not np.isfinite(above):
        return float(below[-1])
    return _refined(stream, (below[-2:], float(above)), margin_log, alpha, estimate)


def high_end(stream: Stream, margin_log: float, alpha: float, estimate: float) -> float | None:
    """The smallest tested ratio above all that are still allowed; ``None`` when not bounded."""
    end = low_end(stream.mirrored(), margin_log, alpha, -estimate)
    return None if end is None else -end


def _first_allowed(stream: Stream, shifts: Floats, alpha: float) -> int:
    """Index of the first ratio whose upward test has not crossed; ``len(shifts)`` without any."""
    for start in range(0, len(shifts), _BATCH):
        looks = crossings(stream, shifts[start : start + _BATCH], 1, alpha)
        if None in looks:
            return start + looks.index(None)
    return len(shifts)


def _refined(
    stream: Stream,
    bracket: tuple[Floats, float],
    margin_log: float,
    alpha: float,
    estimate: float,
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
        allowed = _first_allowed(stream, parts, alpha)
        above = float(parts[allowed]) if allowed < len(parts) else above
        below = np.concatenate([below[:1], parts[:allowed]])[-2:]
    return float(below[-1])
