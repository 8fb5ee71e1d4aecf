"""One false discovery rate for a stream of tests that has no end: LORD++.

Ramdas, Yang, Wainwright and Jordan, "Online control of the false discovery rate with decaying
memory", Advances in Neural Information Processing Systems 30 (2017). Each test has a level that
follows from how many there were and which of them found something; the expected share of the false
among what is found is at most the rate, after any test, when the tests err independently of each
other. All of the rate is there for the first discovery, so that it earns nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

QUIET = 800.0
"""Tests without a discovery after which a level is a quarter of the first."""


def share(place: int) -> float:
    """Of the rate, what the test at a place from 1 takes; all places together take less than 1."""
    return QUIET / (place + QUIET) ** 2


@dataclass
class OnlineRate:
    """The levels of a stream. ``found`` are the places of the tests that found something."""

    rate: float
    tests: int = 0
    found: list[int] = field(default_factory=list)

    @property
    def level(self) -> float:
        """What the next test may err with."""
        place = self.tests + 1
        earned = sum(share(place - at) for at in self.found[1:])
        return self.rate * (share(place) + earned)

    def answered(self, *, found: bool) -> None:
        """The next test was made."""
        self.tests += 1
        if found:
            self.found.append(self.tests)


def runs_needed(level: float, sides: Iterable[float], side: float) -> int:
    """Runs that must all say the same, so that chance does so with at most ``level``.

    ``sides`` are the chances of those that were made, each whatever came before it; further ones
    have ``side``.
    """
    chance, count = 1.0, 0
    for each in sides:
        chance, count = chance * each, count + 1
        if chance <= level:
            return count
    return count + max(0, math.ceil(math.log(level / chance) / math.log(side) - 1e-9))
