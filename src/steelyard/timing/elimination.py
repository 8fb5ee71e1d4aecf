"""Sequential elimination of candidates, until one is left that is within the margin of the best.

The statistics are in ``inference/selection.py``; here are blocks, budget, and what fails.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from steelyard.inference.selection import FEWEST_BLOCKS, Levels, Selection, levels, look_is_due
from steelyard.judge.visits.series import is_constant
from steelyard.plan.order import generator
from steelyard.records.results.tuning import Candidate, Standing

_CONSTANT_BLOCKS = 4
"""After so many without any variation it is over: two commands have eight visits then."""


class CandidateFailed(Exception):  # noqa: N818 - a finding about a candidate, not an error
    """A candidate cannot be measured; the message says why. It does not come back."""


@dataclass(frozen=True)
class Rules:
    """What is fixed before the first visit."""

    margin_log: float
    budget_s: float
    seed: int
    alpha: float = 0.05


@dataclass(frozen=True)
class Block:
    """After a block that was looked at: who is left, and how long the rest may take."""

    number: int
    visits: int
    remaining: tuple[str, ...]
    leader: str
    further_visits: int


class Elimination:
    """``visit`` measures a candidate by its name: a natural logarithm, larger is better."""

    def __init__(self, names: Sequence[str], visit: Callable[[str], float], rules: Rules) -> None:
        self._names, self._visit, self._rules = list(names), visit, rules
        self._selection = Selection(len(names), rules.margin_log, rules.alpha)
        self._random = generator(rules.seed, "elimination")
        self._order: list[str] = []
        self._values: list[float] = []
        self._dropped: dict[str, tuple[int, str]] = {}
        self._failed: dict[str, str] = {}
        self._spent_visits: Counter[str] = Counter()
        self._looked = 0
        self.blocks = 0
        self.found: Levels | None = None

    def run(self, watch: Callable[[Block], None]) -> None:
        """Until it is over or the budget ends, which is looked at between blocks."""
        began = time.monotonic()
        while not self.is_over:
            self._block()
            if self.blocks < FEWEST_BLOCKS:
                continue
            is_last = time.monotonic() - began > self._rules.budget_s
            if self.is_constant:
                if is_last or self.blocks >= _CONSTANT_BLOCKS:
                    return
                continue
            if is_last or look_is_due(self.blocks, len(self._order), self._looked):
                watch(self._look())
            if is_last:
                return

    @property
    def is_over(self) -> bool:
        return self._selection.best is not None

    @property
    def is_constant(self) -> bool:
        """Whether each candidate shows one figure in every visit: no noise to judge it by."""
        values, order = np.array(self._values), np.array(self._order)
        return all(is_constant(values[order == name]) for name in self._names)

    @property
    def noise_sd_log(self) -> float:
        return 0.0 if self.found is None else self.found.noise_sd

    @property
    def best(self) -> str:
        """Of those that are left the one with the best estimate."""
        if self.found is None:
            return self._names[self._selection.remaining[0]]
        estimates = self.found.estimates
        return self._names[max(self._selection.remaining, key=lambda i: float(estimates[i]))]

    def candidates(self, baseline: str) -> tuple[Candidate, ...]:
        """All, from the best to the worst; estimates are of values as ``visit`` gave them."""
        failed = [
            Candidate(name, Standing.FAILED, self._spent_visits[name], failure=why)
            for name, why in self._failed.items()
        ]
        if self.found is None:
            still = [Candidate(name, Standing.OPEN, self._spent_visits[name])
                     for name in self._names]  # fmt: skip
            return (*still, *failed)
        estimates = self.found.estimates - self.found.estimates[self._names.index(baseline)]
        order = sorted(range(len(self._names)), key=lambda i: -float(estimates[i]))
        standings = self._standings(self.found)
        measured = [
            Candidate(
                name, standings[i], self._spent_visits[name], float(estimates[i]),
                *self._dropped.get(name, (None, None)),
            )
            for i, name in ((i, self._names[i]) for i in order)
        ]  # fmt: skip
        return (*measured, *failed)

    def _standings(self, found: Levels) -> list[Standing]:
        best = self._names.index(self.best)
        behind, may_be_better = self._selection.behind(found, best), self._selection.open_to(best)
        standings = [Standing.WORSE if worse else Standing.ALIKE for worse in behind]
        for each in may_be_better:
            standings[each] = Standing.OPEN
        standings[best] = Standing.BEST
        return standings

    def _block(self) -> None:
        remaining = [self._names[i] for i in self._random.permutation(self._selection.remaining)]
        for name in remaining:
            try:
                value = self._visit(name)
            except CandidateFailed as failed:
                self._withdraw(name, str(failed))
                continue
            self._order.append(name)
            self._values.append(value)
            self._spent_visits[name] += 1
        self.blocks += 1

    def _withdraw(self, name: str, why: str) -> None:
        """Its visits leave the regression with it."""
        self._failed[name] = why
        self._selection.withdraw(self._names.index(name))
        self._names.remove(name)
        kept = [i for i, each in enumerate(self._order) if each != name]
        self._order = [self._order[i] for i in kept]
        self._values = [self._values[i] for i in kept]

    def _look(self) -> Block:
        self._looked = len(self._order)
        places = np.array([self._names.index(name) for name in self._order])
        self.found = levels(np.array(self._values), places, len(self._names))
        names = self._names
        for each, by in self._selection.look(self.found).items():
            self._dropped[names[each]] = (self.blocks, names[by])
        remaining = [names[i] for i in self._selection.remaining]
        for name in remaining:
            self._dropped.pop(name, None)
        further = self._selection.further_blocks(self.found, self.blocks)
        return Block(
            self.blocks, sum(self._spent_visits.values()), tuple(remaining), self.best,
            0 if self.is_over else further * len(remaining),
        )  # fmt: skip
