"""What a ranking says. Ratios are natural logarithms of the raw response, over the baseline."""

from __future__ import annotations

from typing import Literal

from steelyard.plan.model import Frozen
from steelyard.study.model import Level

Neighbours = Literal["apart", "equivalent", "open"]


class PlaceFinding(Frozen):
    """One system in the order, with the places that it may have for all that is known.

    ``next`` says how it stands to the system below it: ``apart``, ``equivalent`` within the
    margin, or ``open``: they cannot be distinguished. ``None`` for the last.
    """

    system: str
    best: int
    worst: int
    estimate_log: float | None
    low_log: float | None
    high_log: float | None
    next: Neighbours | None


class RankingFinding(Frozen):
    """All systems by one response, the best first, over all conditions (``None``) or at one.

    All places together are right with probability ``1 - alpha`` at least, at any stop.
    """

    response: str
    conditions: dict[str, Level] | None
    alpha: float
    places: tuple[PlaceFinding, ...]
