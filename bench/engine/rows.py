"""Lines of the table: one for each goal."""

from __future__ import annotations

from dataclasses import dataclass

from bench.engine.contest import LEAST, Contest, Goal, Pair, Probe, Side
from bench.engine.judged import judged

from steelyard.errors import AnalysisError


@dataclass(frozen=True)
class Row:
    """A ratio with its interval and verdict; of a probe, the worst of its readings."""

    name: str
    peer: str
    unit: str
    goal: str
    value: float | None = None
    low: float | None = None
    high: float | None = None
    verdict: str = ""
    count: int = 0
    """Pairs, or readings."""
    met: bool | None = None
    """``None``: the interval holds the bound, or there is no figure."""
    least: float | None = None
    """What the minimal client itself reaches against the peer."""
    reason: str | None = None
    """Why there is no figure."""
    failed: bool = False
    """The reason is a defect, not a lack."""


def rows_of_pairs(contest: Contest, pairs: list[Pair]) -> list[Row]:
    """A row for each goal against the peer, and for that against the minimal client."""
    doubt = contest.doubt(pairs)
    if doubt is not None:
        return rows_without(contest, doubt, failed=False)
    try:
        rows = [_row(contest, contest.peer, goal, pairs, "theirs") for goal in contest.goals]
        if contest.least is not None:
            rows.append(_row(contest, LEAST, contest.least.goal, pairs, "least"))
    except AnalysisError as error:
        return rows_without(contest, str(error), failed=False)
    return rows


def _row(contest: Contest, peer: str, goal: Goal, pairs: list[Pair], other: Side) -> Row:
    found = judged(pairs, "ours", other, goal)
    against_peer = contest.least is not None and other == "theirs"
    return Row(
        contest.name,
        peer,
        goal.unit,
        goal.text(),
        value=found.ratio,
        low=found.low,
        high=found.high,
        verdict=found.verdict,
        count=len(pairs),
        met=goal.met(found.low, found.high),
        least=judged(pairs, "least", "theirs", goal).ratio if against_peer else None,
    )


def rows_of_probe(probe: Probe, readings: list[dict[str, float]]) -> list[Row]:
    """A row for each bound: the worst reading, which has to keep it."""
    rows = []
    for goal in probe.goals:
        values = [reading[goal.figure] for reading in readings]
        worst = max(values) if goal.at_most else min(values)
        met = goal.met(worst, worst)
        count = len(readings)
        rows.append(Row(probe.name, "-", goal.unit, goal.text(), worst, count=count, met=met))
    return rows


def rows_without(contest: Contest | Probe, reason: str, *, failed: bool) -> list[Row]:
    """A row for each goal that says why there is no figure."""
    peer = contest.peer if isinstance(contest, Contest) else "-"
    goals = [(peer, goal) for goal in contest.goals]
    if isinstance(contest, Contest) and contest.least is not None:
        goals.append((LEAST, contest.least.goal))
    return [
        Row(contest.name, peer, goal.unit, goal.text(), reason=reason, failed=failed)
        for peer, goal in goals
    ]
