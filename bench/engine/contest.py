"""What is held against what: a contest has two sides, one setting, and goals for their ratios."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Literal

from bench.engine.needs import Need

LEAST = "minimal client in C"
Side = Literal["ours", "theirs", "least"]


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
    """A bound for the ratio of a figure, ours to theirs; of a probe, for the figure itself.

    ``at_most``: less is better.
    """

    figure: str
    unit: str
    bound: float
    at_most: bool = False

    def met(self, low: float | None, high: float | None) -> bool | None:
        """Whether all that lies between two ends meets it, or none; ``None`` for some of both."""
        low, high = (-math.inf if low is None else low), (math.inf if high is None else high)
        if self.at_most:
            return True if high <= self.bound else False if low > self.bound else None
        return True if low >= self.bound else False if high < self.bound else None

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
    order: tuple[Side, ...] = ("ours", "theirs")
    """In which they were shot."""

    def shot(self, side: Side) -> Shot:
        """That of a side that took part."""
        found: Shot = getattr(self, side)
        return found


def shoot_pairs(contest: Contest, pairs: int, seconds: int) -> list[Pair]:
    """The sides take turns on one server; who begins is drawn for each pair."""
    with contest.setting() as address:
        return [shoot_pair(contest, address, seconds) for _ in range(pairs)]


def shoot_pair(contest: Contest, address: str, seconds: int) -> Pair:
    """All sides, in random order."""
    sides: dict[Side, Shoot] = {"ours": contest.ours, "theirs": contest.theirs}
    if contest.least is not None:
        sides["least"] = contest.least.shoot
    order = tuple(random.sample(sorted(sides), k=len(sides)))
    return Pair(order=order, **{side: sides[side](address, seconds) for side in order})
