"""Which level of an ordered factor changed a response: a binary search whose errors are bounded.

The first step shows that the last level differs from the first one, in a direction. Each further
step measures the middle level together with both ends of what is left, in one random order, until
the change from the lower end to the middle, or from the middle to the upper end, is shown in that
direction. Because the ends differ, at most one of the two can be shown by error, and every
statement holds by itself: with several changes a true one is found, whatever lies between. Each
step spends an equal share of the error rate (docs/decisions/060-bisection.md).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol

from steelyard.inference.sequential import VerdictWord
from steelyard.records.results.bisection import Bisection, Change, Outcome, Step

_WORSE, _BETTER = VerdictWord.SLOWER.value, VerdictWord.FASTER.value
_OPPOSITE = {_WORSE: _BETTER, _BETTER: _WORSE}


class LevelSkipped(Exception):  # noqa: N818 - not an error of anybody
    """A level cannot be prepared; the next one to it is taken."""

    def __init__(self, level: str) -> None:
        super().__init__(level)
        self.level = level


class Measure(Protocol):
    """Measures levels in one random order and compares them in pairs."""

    def __call__(
        self, pairs: Sequence[tuple[str, str]], alpha: float, steps_left: int, wanted: str | None
    ) -> Step:
        """Changes of ``pairs`` (before, after), each shown at the rate ``alpha``.

        It ends when one of them is ``wanted``; with ``None`` when it is decided.

        Raises:
            LevelSkipped: a level cannot be prepared; nothing was measured.
        """


def bisected(levels: Sequence[str], measure: Measure, alpha: float = 0.05) -> Bisection:
    """Searches the level whose step from the one before it is a change.

    A level that does not differ from the one before it is named at the rate ``alpha`` at most.

    Raises:
        LevelSkipped: the first or the last level cannot be prepared.
    """
    search = _Search(list(levels), measure, alpha)
    return search.result(search.run())


class _Search:
    """``left`` holds the ends and all testable levels between them."""

    def __init__(self, levels: list[str], measure: Measure, alpha: float) -> None:
        self._levels, self._measure, self._alpha = tuple(levels), measure, alpha
        self._left = levels
        self._unspent = alpha
        self._steps: list[Step] = []
        self._skipped: list[str] = []
        self._change: Change | None = None

    def run(self) -> Outcome:
        first, last = self._left[0], self._left[-1]
        change = self._step([(first, last)], 1 + self._inner_steps(), None).changes[0]
        if change.word not in _OPPOSITE:
            same = change.word == VerdictWord.EQUIVALENT.value
            return Outcome.NO_CHANGE if same else Outcome.UNDECIDED
        self._change, direction = change, change.word
        while len(self._left) > 2:
            if not self._halved(direction):
                return Outcome.UNDECIDED
        return Outcome.FOUND

    def result(self, outcome: Outcome) -> Bisection:
        return Bisection(
            outcome, self._left[0], self._left[-1], self._change, tuple(self._steps),
            tuple(self._skipped), self._alpha, self._levels,
        )  # fmt: skip

    def _halved(self, direction: str) -> bool:
        """One step; whether it showed in which half a change is."""
        at = (len(self._left) - 1) // 2
        middle = self._left[at]
        pairs = [(self._left[0], middle), (middle, self._left[-1])]
        try:
            step = self._step(pairs, self._inner_steps(), direction)
        except LevelSkipped as skipped:
            if skipped.level != middle:
                raise
            self._skipped.append(middle)
            del self._left[at]
            return True
        shown = [change for change in step.changes if change.word == direction]
        if not shown:
            return False
        self._change = max(shown, key=lambda change: abs(change.estimate_log or 0.0))
        lower = self._change.after == middle
        self._left = self._left[: at + 1] if lower else self._left[at:]
        return True

    def _step(self, pairs: list[tuple[str, str]], steps_left: int, wanted: str | None) -> Step:
        alpha = self._unspent / steps_left
        step = self._measure(pairs, alpha, steps_left, wanted)
        self._unspent -= alpha
        self._steps.append(step)
        return step

    def _inner_steps(self) -> int:
        """The most that are still needed to halve what is left down to one pair."""
        return math.ceil(math.log2(len(self._left) - 1)) if len(self._left) > 2 else 0
