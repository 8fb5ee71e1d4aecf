"""What the sequential tests say of one comparison, and at which look they first said it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Sequence
from copy import deepcopy
from dataclasses import dataclass

import numpy as np

from steelyard.inference.confidence import Asked, Stream, crossings, find_out, fixed_grid, lows_of
from steelyard.inference.exact import OneSided, Races
from steelyard.inference.spending import FIRST_LOOK
from steelyard.inference.verdict_word import VerdictWord
from steelyard.inference.weights import Floats


@dataclass(frozen=True)
class Decision:
    """All words that held at the first look at which any did; none and ``None`` before."""

    words: tuple[VerdictWord, ...]
    at: int | None


UNDECIDED = Decision((), None)
DECISIVE = (VerdictWord.FASTER, VerdictWord.SLOWER, VerdictWord.EQUIVALENT)


@dataclass(frozen=True)
class Memory:
    """The four tests at 0 and at the margins after some visits, and what they decided."""

    races: Races
    decision: Decision


class _Memories:
    """What was found for the first visits of a study: a function of these visits alone.

    A session asks after every visit; with this it makes one look, not all of them again.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: OrderedDict[Hashable, Memory] = OrderedDict()

    def recall(self, stream: Stream, margin_log: float, alpha: float) -> Memory:
        """What is known of the longest beginning of the stream; fresh tests without any."""
        if stream.order is not None:
            for visits in range(len(stream.values), FIRST_LOOK - 1, -1):
                found = self._kept.get((stream.key(visits), margin_log, alpha))
                if found is not None:
                    return found
        tests = (
            OneSided(0, 1, alpha / 2),
            OneSided(0, -1, alpha / 2),
            OneSided(1, 1, alpha),
            OneSided(2, -1, alpha),
        )
        return Memory(Races(tests, stream.pool.shape[1]), UNDECIDED)

    def keep(self, memory: Memory, stream: Stream, margin_log: float, alpha: float) -> None:
        if stream.order is None:
            return
        self._kept[stream.key(len(stream.values)), margin_log, alpha] = memory
        while len(self._kept) > self._most:
            self._kept.popitem(last=False)


_MEMORY = _Memories(most=256)


def decide(stream: Stream, margin_log: float, alpha: float) -> Decision:
    """Faster, slower or equivalent, judged by the same ratios as the interval.

    Faster: every ratio of the fixed grid up to 0 has been put out by upward tests of alpha/2.
    Slower: every one from 0 on by downward tests of alpha/2. Equivalent: all up to -margin by
    upward and all from +margin on by downward tests of alpha each. Words that hold at the
    margin or at 0 alone are looked into first; without any, the grid is left alone.
    """
    memory = _MEMORY.recall(stream, margin_log, alpha)
    if not memory.decision.words:
        memory = _looked(memory, stream, margin_log, alpha)
        _MEMORY.keep(memory, stream, margin_log, alpha)
    return memory.decision


def _looked(known: Memory, stream: Stream, margin_log: float, alpha: float) -> Memory:
    races = deepcopy(known.races)
    if stream.engine == "normal":
        return Memory(races, _first_said(DECISIVE, stream, margin_log, alpha))
    shifts = np.array([0.0, -margin_log, margin_log])
    residuals = stream.values - np.multiply.outer(shifts, stream.other)
    races.advance(
        residuals, stream.pool, stream.horizon, once=stream.once, covariate=stream.covariate
    )
    said = _first_said(_at_the_bounds(races), stream, margin_log, alpha)
    return Memory(races, said)


def _first_said(
    words: Sequence[VerdictWord], stream: Stream, margin_log: float, alpha: float
) -> Decision:
    """Those of the words that held at the first look at which any did."""
    held_at = {
        word: look
        for word in words
        if (look := _on_the_grid(word, stream, margin_log, alpha)) is not None
    }
    if not held_at:
        return UNDECIDED
    first = min(held_at.values())
    return Decision(tuple(word for word, look in held_at.items() if look == first), first)


def _at_the_bounds(races: Races) -> list[VerdictWord]:
    """The words that the four tests at 0 and the margins allow: necessary, not sufficient."""
    up, down, above_low, below_high = (look is not None for look in races.crossed)
    allowed = {
        VerdictWord.FASTER: up,
        VerdictWord.SLOWER: down,
        VerdictWord.EQUIVALENT: above_low and below_high,
    }
    return [word for word, holds in allowed.items() if holds]


def _on_the_grid(word: VerdictWord, stream: Stream, margin_log: float, alpha: float) -> int | None:
    """The look by which every ratio that contradicts the word had been put out."""
    grid = fixed_grid(margin_log)
    if word is VerdictWord.FASTER:
        return _all_out([stream], grid[grid <= 0], alpha / 2)
    if word is VerdictWord.SLOWER:
        return _all_out([stream.mirrored()], grid[grid <= 0], alpha / 2)
    return _all_out([stream, stream.mirrored()], grid[grid <= -margin_log], alpha)


def excluded(stream: Stream, bound: float, margin_log: float, alpha: float) -> int | None:
    """The look by which every tested ratio up to ``bound`` had been put out; ``None`` if not yet.

    ``bound`` itself is tested beside the fixed grid of ``margin_log``. The mirrored stream asks
    the same of ratios from ``-bound`` on.
    """
    grid = fixed_grid(margin_log)
    points = np.union1d(grid[grid < bound], [bound])
    reject_at_bound = crossings(stream, points[-1:], alpha)[0]
    return None if reject_at_bound is None else _all_out([stream], points, alpha)


def _all_out(sides: Sequence[Stream], shifts: Floats, alpha: float) -> int | None:
    """The look by which both tests had put out all of the ratios, of every stream."""
    looks = [_out_by_second(each, float(shifts.max()), alpha) for each in sides]
    if None not in looks and sides[0].engine != "normal":
        find_out([Asked(each, shifts, alpha) for each in sides])
        for each in sides:
            looks += crossings(each, shifts, alpha)
    known = [look for look in looks if look is not None]
    return max(known) if len(known) == len(looks) else None


def _out_by_second(stream: Stream, largest: float, alpha: float) -> int | None:
    """The look by which the test beside the exact one had put out all up to the largest."""
    beyond = np.flatnonzero(lows_of(stream, alpha) > largest)
    first = len(stream.values) if stream.once else FIRST_LOOK
    return first + int(beyond[0]) if len(beyond) else None
