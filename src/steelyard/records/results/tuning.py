"""What ``steelyard tune`` found: which of many candidates is within the margin of the best."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from steelyard.records.results.bisection import Change


class Outcome(StrEnum):
    """How a search ended; ``UNDECIDED``: the budget ended first, or it was interrupted.

    ``NOT_JUDGED``: each candidate showed one figure in every visit: there is no noise to judge by.
    """

    FOUND = "found"
    UNDECIDED = "undecided"
    NOT_JUDGED = "not_judged"


class Standing(StrEnum):
    """How a candidate stands to the one that is named.

    ``WORSE``: shown to be worse. ``ALIKE``: no better by the margin, and not shown to be worse.
    ``OPEN``: it may be better by more than the margin.
    """

    BEST = "best"
    WORSE = "worse"
    ALIKE = "alike"
    OPEN = "open"
    FAILED = "failed"


@dataclass(frozen=True)
class Candidate:
    """``estimate_log`` is the natural logarithm of its response over that of the baseline.

    ``dropped_after`` is the block after which it was dropped, because it was no better by the
    margin than ``dropped_against``; ``failure`` is why it cannot be measured.
    """

    name: str
    standing: Standing
    visits: int
    estimate_log: float | None = None
    dropped_after: int | None = None
    dropped_against: str | None = None
    failure: str | None = None


@dataclass(frozen=True)
class Tuning:
    """``candidates`` from the best to the worst by their estimates, those that failed last.

    ``gain`` is the change from the baseline to ``best`` in visits of their own, afterwards;
    ``None`` where the baseline is the best, or nothing was compared. ``noise_sd_log`` is the
    standard deviation of a visit, without trends and without what the visit before it says. Of a
    search that is not judged ``best`` is the baseline.
    """

    outcome: Outcome
    best: str
    baseline: str
    candidates: tuple[Candidate, ...]
    gain: Change | None
    gain_visits: int
    blocks: int
    noise_sd_log: float
    margin_log: float
    alpha: float
    seed: int

    @property
    def visits(self) -> int:
        """Without those of the gain."""
        return sum(each.visits for each in self.candidates)

    def of(self, standing: Standing) -> tuple[str, ...]:
        return tuple(each.name for each in self.candidates if each.standing is standing)
