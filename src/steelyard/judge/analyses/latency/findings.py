"""What is found of the response times of one cell. Times are nanoseconds."""

from __future__ import annotations

from steelyard.plan.model import Cell, Frozen


class PercentileFinding(Frozen):
    """One percentile of a cell: the median over its trials, with the interval of that.

    ``value_ns`` is ``None`` where a trial has fewer than ten operations above the percentile, or
    failed ones among those that it divides: ``trials`` is how many have it, ``needed`` how many
    operations each trial needs. Failed operations count as the slowest.
    """

    share: float
    value_ns: float | None
    low_ns: float | None
    high_ns: float | None
    interval_level: float
    trials: int
    needed: int


class PhaseFinding(Frozen):
    """One phase of the operations of a cell, over all its trials; phases add up to the whole."""

    name: str
    operations: int
    mean_ns: float


class LatencyIntervalFinding(Frozen):
    """Answers of one interval of the window, all trials together, in bars of time.

    Of each bar the shortest time and the answers in it; there are twenty bars in each tenfold.
    """

    start_s: float
    bars: tuple[tuple[int, int], ...]


class LatencyFinding(Frozen):
    """Response times of all operations of one cell, from when each should have started.

    ``tail`` is the complement of the distribution: of each time how many took at least so long.
    ``failed`` operations have no time and are not in it. ``over_time`` is empty where the records
    hold no distribution by time.
    """

    cell: Cell
    trials: int
    answered: int
    failed: int
    percentiles: tuple[PercentileFinding, ...]
    tail: tuple[tuple[int, int], ...]
    phases: tuple[PhaseFinding, ...]
    over_time: tuple[LatencyIntervalFinding, ...]
