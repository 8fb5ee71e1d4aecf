"""What is found of throughput within the windows of one cell."""

from __future__ import annotations

from steelyard.judge.analyses.steadiness.steady import Steadiness
from steelyard.judge.frozen import Frozen
from steelyard.plan.model import Cell


class SteadyFinding(Frozen):
    """Whether the trials of one cell were steady, from the mean of their courses.

    ``cut_s`` is how much of the window precedes the steady part; ``bias_log`` what that changes in
    the mean. ``drift_low_log..drift_high_log`` bounds the change over the steady part. Fields are
    ``None`` where too little is known, with the reason in ``why``.
    """

    cell: Cell
    state: Steadiness
    trials: int
    intervals: int
    interval_s: float | None
    cut_s: float | None
    bias_log: float | None
    drift_low_log: float | None
    drift_high_log: float | None
    why: str | None
