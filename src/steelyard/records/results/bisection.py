"""What ``steelyard bisect`` found: which level of an ordered factor changed a response."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from steelyard.records.note import Note


class Outcome(StrEnum):
    """How a bisection ended.

    ``UNDECIDED``: a budget ended first. ``NO_CHANGE``: the ends are equivalent by the margin.
    """

    FOUND = "found"
    NO_CHANGE = "no_change"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class Change:
    """One level against another: natural logarithms of ``after`` over ``before``.

    ``word`` is ``faster`` or ``slower`` where a difference was shown at the rate of its step,
    ``equivalent`` where the margin holds it, else ``undecided`` or ``not_judged``; ``why`` says
    what stands against a verdict.
    """

    before: str
    after: str
    word: str
    estimate_log: float | None
    low_log: float | None
    high_log: float | None
    interval_level: float | None = None
    why: tuple[Note, ...] = ()


@dataclass(frozen=True)
class Step:
    """One randomised comparison: the ends of the first step, later a middle with both ends.

    ``alpha`` is the error rate that it may spend.
    """

    changes: tuple[Change, ...]
    alpha: float
    visits: int


@dataclass(frozen=True)
class Bisection:
    """``culprit`` is the first level after the change, ``last_before`` the level it changed from.

    Where the outcome is not ``found``, ``last_before`` and ``culprit`` bound the levels that are
    left. ``skipped`` could not be prepared; those between the two may be the culprit as well.
    """

    outcome: Outcome
    last_before: str
    culprit: str
    change: Change | None
    steps: tuple[Step, ...]
    skipped: tuple[str, ...]
    alpha: float
    levels: tuple[str, ...]

    @property
    def candidates(self) -> tuple[str, ...]:
        """Every level that may have brought the change, in their order."""
        first, last = self.levels.index(self.last_before), self.levels.index(self.culprit)
        return self.levels[first + 1 : last + 1]

    @property
    def visits(self) -> int:
        return sum(step.visits for step in self.steps)
