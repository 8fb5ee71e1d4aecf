"""What is held against what: a contest has two sides, one setting, and goals for their ratios."""

from __future__ import annotations

import random
import statistics
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace

from bench.engine.needs import Need

LEAST = "minimal client in C"


@dataclass(frozen=True)
class Shot:
    """One run of one side, or one reading of a probe."""

    operations: float
    cpu_s: float
    """Charged by the kernel to the client process for all `operations`."""
    per_s: float | None = None
    """Operations (or bytes) a second of the window, where the contest is about speed."""
    note: dict[str, float] = field(default_factory=dict)

    @property
    def cpu_per_operation(self) -> float:
        """Seconds of CPU."""
        return self.cpu_s / self.operations

    @property
    def per_cpu_s(self) -> float:
        """Operations for each second of CPU."""
        return self.operations / self.cpu_s


Shoot = Callable[[str, int], Shot]
"""A run against an address for some seconds."""


@dataclass(frozen=True)
class Goal:
    """A bound for the ratio of a figure, ours to theirs; of a probe, for the figure itself."""

    figure: str
    unit: str
    bound: float
    at_most: bool = False

    def met(self, value: float) -> bool:
        return value <= self.bound if self.at_most else value >= self.bound

    def text(self) -> str:
        return f"{'<=' if self.at_most else '>='} {self.bound:g}"


def cpu_at_most(bound: float) -> Goal:
    return Goal("cpu_per_operation", "CPU/operation", bound, at_most=True)


def per_cpu_at_least(bound: float) -> Goal:
    return Goal("per_cpu_s", "operations/CPU s", bound)


def rate_at_least(bound: float, unit: str = "operations/s") -> Goal:
    return Goal("per_s", unit, bound)


@dataclass(frozen=True)
class Least:
    """The minimal client of a protocol: what the kernel charges for its calls alone."""

    shoot: Shoot
    goal: Goal
    """For ours to it."""


@dataclass(frozen=True)
class Contest:
    """Two clients on one server, and the minimal client if there is one."""

    name: str
    setup: str
    peer: str
    needs: tuple[Need, ...]
    setting: Callable[[], AbstractContextManager[str]]
    """The server for all pairs; gives its address."""
    ours: Shoot
    theirs: Shoot
    goals: tuple[Goal, ...]
    least: Least | None = None
    doubt: Callable[[list[Pair]], str | None] = lambda _: None
    """Why these pairs do not show what the contest is about; None if they do."""


@dataclass(frozen=True)
class Probe:
    """A figure of the engine alone, with a bound of its own."""

    name: str
    setup: str
    needs: tuple[Need, ...]
    measure: Callable[[int], dict[str, float]]
    goals: tuple[Goal, ...]


@dataclass(frozen=True)
class Pair:
    """One shot of each side, and of the minimal client where there is one."""

    ours: Shot
    theirs: Shot
    least: Shot | None = None

    def ratio(self, figure: str) -> float:
        """Ours to theirs."""
        return ratio(self.ours, self.theirs, figure)


def ratio(one: Shot, other: Shot, figure: str) -> float:
    """One shot's figure to that of another."""
    return float(getattr(one, figure) / getattr(other, figure))


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    name: str
    peer: str
    unit: str
    goal: str
    median: float | None = None
    low: float | None = None
    high: float | None = None
    met: bool | None = None
    least: float | None = None
    """What the minimal client itself reaches against the peer."""
    reason: str | None = None
    """Why there is no figure."""
    failed: bool = False
    """The reason is a defect, not a lack."""


def shoot_pairs(contest: Contest, pairs: int, seconds: int) -> list[Pair]:
    """The sides take turns on one server; who begins is drawn for each pair."""
    with contest.setting() as address:
        return [shoot_pair(contest, address, seconds) for _ in range(pairs)]


def shoot_pair(contest: Contest, address: str, seconds: int) -> Pair:
    """All sides, in random order."""
    sides = {"ours": contest.ours, "theirs": contest.theirs}
    if contest.least is not None:
        sides["least"] = contest.least.shoot
    order = random.sample(sorted(sides), k=len(sides))
    return Pair(**{name: sides[name](address, seconds) for name in order})


def rows_of_pairs(contest: Contest, pairs: list[Pair]) -> list[Row]:
    """A row for each goal: the median of the pairs' ratios, and the least and the greatest."""
    doubt = contest.doubt(pairs)
    if doubt is not None:
        return rows_without(contest, doubt, failed=False)
    rows = [
        replace(
            row(contest.name, contest.peer, goal, [pair.ratio(goal.figure) for pair in pairs]),
            least=least_to_peer(pairs, goal.figure),
        )
        for goal in contest.goals
    ]
    shots = [(pair.ours, pair.least) for pair in pairs if pair.least is not None]
    if contest.least is None or not shots:
        return rows
    goal = contest.least.goal
    values = [ratio(ours, least, goal.figure) for ours, least in shots]
    return [*rows, row(contest.name, LEAST, goal, values)]


def least_to_peer(pairs: list[Pair], figure: str) -> float | None:
    """Median of what the minimal client reached against the peer."""
    shots = [(pair.least, pair.theirs) for pair in pairs if pair.least is not None]
    if not shots:
        return None
    return statistics.median(ratio(least, theirs, figure) for least, theirs in shots)


def rows_of_probe(probe: Probe, readings: list[dict[str, float]]) -> list[Row]:
    """A row for each bound: the figure itself."""
    return [
        row(probe.name, "-", goal, [reading[goal.figure] for reading in readings])
        for goal in probe.goals
    ]


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


def row(name: str, peer: str, goal: Goal, values: list[float]) -> Row:
    middle = statistics.median(values)
    spread = (min(values), max(values))
    return Row(name, peer, goal.unit, goal.text(), middle, *spread, met=goal.met(middle))
