"""The A/A gate: on two equal systems, how often does the judge call one faster?

A gate takes an engine, so that a planted mistake can be sent through it. It fails when more
studies are judged wrongly than 5 % allow, with 1 % chance of failing a judge that errs in
exactly 5 %.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from scipy.stats import binom
from tests.calibration.simulated import Case, studies

from steelyard.judge.exact import OneSided, first_crossings
from steelyard.judge.interval import Stream

ALPHA = 0.05
GATE_LEVEL = 0.99

Engine = Callable[[Stream], bool]


@dataclass(frozen=True)
class Outcome:
    """What came of one case: studies, and those in which a difference was declared."""

    noise: str
    studies: int
    wrong: int

    @property
    def rate(self) -> float:
        return self.wrong / self.studies

    @property
    def passed(self) -> bool:
        return self.wrong <= most_allowed(self.studies)


def most_allowed(count: int) -> int:
    """The 99 % quantile of wrong verdicts in ``count`` studies of a judge that errs in 5 %."""
    return int(binom.ppf(GATE_LEVEL, count, ALPHA))


def shipped(stream: Stream) -> bool:
    """The engine as it is: does either test at ratio 1 cross at any look up to the budget?"""
    tests = (OneSided(0, 1, ALPHA / 2), OneSided(0, -1, ALPHA / 2))
    rows = np.asarray([stream.values])
    return any(
        look is not None for look in first_crossings(rows, stream.pool, tests, stream.horizon)
    )


def gate(engine: Engine, case: Case) -> Outcome:
    """Send every study of an A/A case through an engine and count the wrong verdicts."""
    return Outcome(case.noise, case.studies, sum(engine(stream) for stream in studies(case)))


def failures(outcomes: Iterable[Outcome]) -> list[str]:
    """The outcomes that do not pass, as sentences."""
    return [
        f"{o.noise}: {o.wrong} wrong of {o.studies}, {most_allowed(o.studies)} allowed"
        for o in outcomes
        if not o.passed
    ]
