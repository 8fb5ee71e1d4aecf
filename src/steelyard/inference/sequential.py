"""The decision on one comparison, and the look at which it was first reached."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from steelyard.inference.confidence import Asked, Rejections, fixed_grid, run_together
from steelyard.inference.exact import SequentialTests
from steelyard.inference.noise.robust import Floats
from steelyard.inference.running import RunningTests
from steelyard.inference.spending import FIRST_LOOK
from steelyard.inference.stream import Stream


class VerdictWord(StrEnum):
    """What the judge says of one comparison. ``faster``/``slower`` speak of the good direction.

    ``trade_off``: one of the two is faster and worse in a guardrail metric.
    """

    FASTER = "faster"
    SLOWER = "slower"
    EQUIVALENT = "equivalent"
    UNDECIDED = "undecided"
    TRADE_OFF = "trade_off"
    NOT_JUDGED = "not_judged"


DECIDED = frozenset(
    {VerdictWord.FASTER, VerdictWord.SLOWER, VerdictWord.EQUIVALENT, VerdictWord.TRADE_OFF}
)
"""The words that end a comparison."""


@dataclass(frozen=True)
class Decision:
    """All verdicts that held at the first look at which any did; none and ``None`` before."""

    words: tuple[VerdictWord, ...]
    at: int | None


UNDECIDED = Decision((), None)
_FIRST_VISITS = 32
DECISIVE = (VerdictWord.FASTER, VerdictWord.SLOWER, VerdictWord.EQUIVALENT)


class Memory:
    """The tests of comparisons: a function of their visits alone.

    Made and passed by who judges the same study again after every visit, or as it stood at earlier
    visits; then one look is made, not all of them again. Decisions are the same without it.
    """

    def __init__(self, most: int = 256) -> None:
        self._most = most
        self._running: OrderedDict[Hashable, RunningTests] = OrderedDict()

    def of(self, stream: Stream) -> RunningTests:
        """What was tested of a longer or shorter series of the same visits; nothing if unknown."""
        key = stream.key(FIRST_LOOK)
        if key is None or stream.once or len(stream.values) < FIRST_LOOK:
            return RunningTests(stream)
        running = self._running.get(key)
        if running is None or not running.follow(stream):
            running = self._running[key] = RunningTests(stream)
        self._running.move_to_end(key)
        while len(self._running) > self._most:
            self._running.popitem(last=False)
        return running


def decide(side: Rejections, margin_log: float, alpha: float) -> Decision:
    """Faster, slower or equivalent, judged by the same ratios as the interval.

    Faster: upward tests of alpha/2 have rejected every ratio of the fixed grid up to 0. Slower:
    downward tests of alpha/2 every one from 0 on. Equivalent: upward tests of alpha all up to
    -margin, and downward tests of alpha all from +margin on. The tests at 0 and at the margins
    are made first, as many looks as a decision needs; the grid is tested only for what these allow.
    """
    stream, visits = side.stream, side.stream.visits
    tests = side.running.at_bounds(side.sign, margin_log, alpha)
    shifts = np.array([0.0, -margin_log, margin_log])
    residuals = stream.values - np.multiply.outer(shifts, stream.other)
    while True:
        words = _at_the_bounds(tests)
        decision = _first_of({word: _on_the_grid(word, side, margin_log, alpha) for word in words})
        if tests.looked >= visits or (decision.at and decision.at <= tests.looked):
            return decision
        known_visits = visits if stream.once else min(visits, max(_FIRST_VISITS, 2 * tests.looked))
        tests.advance(
            residuals[:, : known_visits * stream.machines],
            stream.pool,
            stream.horizon,
            once=stream.once,
            covariate=stream.covariate,
            machines=stream.machines,
        )


def _first_of(held: dict[VerdictWord, int | None]) -> Decision:
    """The verdicts that held at the first look at which any did, of the look of each."""
    known = {word: look for word, look in held.items() if look is not None}
    if not known:
        return UNDECIDED
    first = min(known.values())
    return Decision(tuple(word for word, look in known.items() if look == first), first)


def _at_the_bounds(tests: SequentialTests) -> list[VerdictWord]:
    """The verdicts that the four tests at 0 and the margins allow: necessary, not sufficient."""
    up, down, above_low, below_high = (look is not None for look in tests.crossed)
    allowed = {
        VerdictWord.FASTER: up,
        VerdictWord.SLOWER: down,
        VerdictWord.EQUIVALENT: above_low and below_high,
    }
    return [word for word, holds in allowed.items() if holds]


def _on_the_grid(
    word: VerdictWord, side: Rejections, margin_log: float, alpha: float
) -> int | None:
    """The look by which every ratio that contradicts the verdict had been rejected."""
    grid = fixed_grid(margin_log)
    if word is VerdictWord.FASTER:
        return _all_rejected([side], grid[grid <= 0], alpha / 2)
    if word is VerdictWord.SLOWER:
        return _all_rejected([side.mirrored], grid[grid <= 0], alpha / 2)
    return _all_rejected([side, side.mirrored], grid[grid <= -margin_log], alpha)


def excluded(side: Rejections, bound: float, margin_log: float, alpha: float) -> int | None:
    """The look by which every tested ratio up to ``bound`` was rejected; ``None`` if not yet.

    ``bound`` itself is tested besides the fixed grid of ``margin_log``. The mirrored side asks
    the same of ratios from ``-bound`` on.
    """
    grid = fixed_grid(margin_log)
    points = np.union1d(grid[grid < bound], [bound])
    at_bound = side.looks(points[-1:], alpha)[0]
    return None if at_bound is None else _all_rejected([side], points, alpha)


def _all_rejected(sides: Sequence[Rejections], shifts: Floats, alpha: float) -> int | None:
    """The look by which both tests had rejected all of the ratios, on every side."""
    looks = [each.look_above(float(shifts.max()), alpha) for each in sides]
    if None not in looks:
        run_together([Asked(each, shifts, alpha) for each in sides])
        for each in sides:
            looks += each.looks(shifts, alpha)
    known = [look for look in looks if look is not None]
    return max(known) if len(known) == len(looks) else None
