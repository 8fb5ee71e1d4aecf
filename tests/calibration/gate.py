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
from steelyard.judge.interval import Stream, lows_of

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


def as_judged(stream: Stream) -> bool:
    """Both tests, as a verdict needs them: is the ratio 1 put out on either side by both?"""
    up, down = _crossed(stream)
    return (up and _low_beyond(stream)) or (down and _low_beyond(stream.mirrored()))


def called_faster(stream: Stream) -> bool:
    """Both tests on one side."""
    return _crossed(stream)[0] and _low_beyond(stream)


def _low_beyond(stream: Stream) -> bool:
    return bool(lows_of(stream, ALPHA / 2)[-1] > 0)


def shipped(stream: Stream) -> bool:
    """The exact test alone, which must hold where spreads are equal.

    Does either test at ratio 1 cross at any look up to the budget?
    """
    return any(_crossed(stream))


def _crossed(stream: Stream) -> tuple[bool, bool]:
    tests = (OneSided(0, 1, ALPHA / 2), OneSided(0, -1, ALPHA / 2))
    rows = np.asarray([stream.values])
    up, down = first_crossings(rows, stream.pool, tests, stream.horizon)
    return up is not None, down is not None


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
