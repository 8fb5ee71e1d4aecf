"""What is said of failures. Ratios are natural logarithms, other over baseline."""

from __future__ import annotations

from typing import Literal

from steelyard.judge.kinds.verdict_notes import NotJudged
from steelyard.plan.model import Frozen
from steelyard.records.schema import FailedOperations

FailureWord = Literal["fails_more", "fails_less", "undecided", "none_failed", "not_judged"]


class FailureFinding(Frozen):
    """What failed on one system, over all trials that count.

    ``below`` is the upper end of the 95 % interval of the share when nothing failed (3/n), else
    ``None``: operations within a trial depend on each other, so their sum has no interval. Of
    ``attempts``, ``attempts_failed`` failed and ``attempts_invalid`` were invalid. ``causes``: how
    operations failed, the commonest first.
    """

    system: str
    operations: int | None
    failed: int | None
    below: float | None
    attempts: int
    attempts_failed: int
    attempts_invalid: int
    causes: tuple[FailedOperations, ...] = ()


class FailureContrastFinding(Frozen):
    """Whether a system fails more than another, judged by trial, over all conditions.

    ``odds_log`` is the ratio of the odds to fail, ``None`` where no operation of one of the two
    failed, so that it has no size; ``attempts_chance`` the probability of so
    unequal shares of attempts that failed by chance alone (Fisher's exact test).
    """

    baseline: str
    other: str
    word: FailureWord
    odds_log: float | None
    low_log: float | None
    high_log: float | None
    interval_level: float
    attempts_chance: float | None
    note: NotJudged | None = None
