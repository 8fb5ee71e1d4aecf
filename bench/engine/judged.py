"""Pairs of runs, judged by Steelyard's own judge as trials of a design of pairs."""

from __future__ import annotations

import math
from dataclasses import dataclass

from bench.engine.contest import Goal, Pair, Side

from steelyard.inference.sequential import VerdictWord
from steelyard.judge import judge_trials

MARGIN = 0.02
"""The smallest difference that matters, as a share."""
WORDS = {
    VerdictWord.FASTER: "better",
    VerdictWord.SLOWER: "worse",
    VerdictWord.EQUIVALENT: "equivalent",
    VerdictWord.UNDECIDED: "undecided",
    VerdictWord.NOT_JUDGED: "not judged",
}


@dataclass(frozen=True)
class Judgement:
    """The ratio of a figure, one side to the other, with its interval at 95 %."""

    ratio: float
    low: float | None
    """``None``: not bounded by so few pairs."""
    high: float | None
    verdict: str


def judged(pairs: list[Pair], one: Side, other: Side, goal: Goal) -> Judgement:
    """Whether ``one`` is better than ``other`` in the figure of a goal, and by how much.

    Raises:
        AnalysisError: nothing can be judged, and why: fewer than four pairs, a figure that is 0.
    """
    sides = [side for pair in pairs for side in pair.order if side in (one, other)]
    shots = [pair.shot(side) for pair in pairs for side in pair.order if side in (one, other)]
    verdict = judge_trials(
        sides,
        [float(getattr(shot, goal.figure)) for shot in shots],
        baseline=other,
        margin=MARGIN,
        design="pairs",
        direction="lower" if goal.at_most else "higher",
        budget=len(sides),
    ).of(one)
    logs = (verdict.estimate_log, verdict.low_log, verdict.high_log)
    estimate, low, high = (None if log is None else math.exp(log) for log in logs)
    return Judgement(math.nan if estimate is None else estimate, low, high, WORDS[verdict.word])
