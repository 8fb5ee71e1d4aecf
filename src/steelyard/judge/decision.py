"""What the sequential tests say of one comparison, and at which look they first said it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steelyard.judge.exact import OneSided, first_crossings
from steelyard.judge.findings import VerdictWord
from steelyard.judge.interval import Stream, crossings, fixed_grid
from steelyard.judge.scores import Floats


@dataclass(frozen=True)
class Decision:
    """All words that held at the first look at which any did; none and ``None`` before."""

    words: tuple[VerdictWord, ...]
    at: int | None


UNDECIDED = Decision((), None)


def decide(stream: Stream, margin_log: float, alpha: float) -> Decision:
    """Faster, slower or equivalent, judged by the same ratios as the interval.

    Faster: every ratio of the fixed grid up to 0 has been put out by upward tests of alpha/2.
    Slower: every one from 0 on by downward tests of alpha/2. Equivalent: all up to -margin by
    upward and all from +margin on by downward tests of alpha each. Words that hold at the
    margin or at 0 alone are looked into first; without any, the grid is left alone.
    """
    held_at = {
        word: look
        for word, candidate in _at_the_bounds(stream, margin_log, alpha).items()
        if candidate and (look := _on_the_grid(word, stream, margin_log, alpha)) is not None
    }
    if not held_at:
        return UNDECIDED
    first = min(held_at.values())
    return Decision(tuple(word for word, look in held_at.items() if look == first), first)


def _at_the_bounds(stream: Stream, margin_log: float, alpha: float) -> dict[VerdictWord, bool]:
    """Which words the four tests at 0 and at the margins allow: necessary, not sufficient."""
    shifts = np.array([0.0, -margin_log, margin_log])
    residuals = stream.values - np.multiply.outer(shifts, stream.other)
    tests = (
        OneSided(0, 1, alpha / 2),
        OneSided(0, -1, alpha / 2),
        OneSided(1, 1, alpha),
        OneSided(2, -1, alpha),
    )
    up, down, above_low, below_high = first_crossings(residuals, stream.pool, tests, stream.horizon)
    return {
        VerdictWord.FASTER: up is not None,
        VerdictWord.SLOWER: down is not None,
        VerdictWord.EQUIVALENT: above_low is not None and below_high is not None,
    }


def _on_the_grid(word: VerdictWord, stream: Stream, margin_log: float, alpha: float) -> int | None:
    """The look by which every ratio that contradicts the word had been put out."""
    grid = fixed_grid(margin_log)
    if word is VerdictWord.FASTER:
        return _all_out(stream, grid[grid <= 0], alpha / 2)
    if word is VerdictWord.SLOWER:
        return _all_out(stream.mirrored(), grid[grid <= 0], alpha / 2)
    outside = grid[grid <= -margin_log]
    low = _all_out(stream, outside, alpha)
    high = _all_out(stream.mirrored(), outside, alpha)
    return None if low is None or high is None else max(low, high)


def _all_out(stream: Stream, shifts: Floats, alpha: float) -> int | None:
    looks = crossings(stream, shifts, 1, alpha)
    known = [look for look in looks if look is not None]
    return max(known) if len(known) == len(looks) else None
