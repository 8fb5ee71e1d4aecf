"""Searches of a changed level by the real judge on simulated times: how many name a wrong one.

    python -m tests.calibration.bisecting [--searches 200]

A search has 17 levels; the noise is 2 % of a visit, independent or as an AR(1) with 0.9. Orders are
simulated 2,000 times instead of 20,000. The judge is called once a step: it keeps the words of the
first look at which any holds, as if it had looked after each visit.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from steelyard.judge.own_trials.arguments import Declared
from steelyard.judge.own_trials.rows import TrialRows
from steelyard.judge.own_trials.verdicts import judge_rows
from steelyard.plan.order import big_stick, blocks, generator
from steelyard.records.results.bisection import Outcome, Step
from steelyard.timing.bisection import bisected
from steelyard.timing.levels import change_of

LEVELS = tuple(f"v{i}" for i in range(17))
MARGIN = 0.02
_NOISE_LOG = 0.02
_BUDGET = 96
_PATHS = 2_000


@dataclass
class Simulated:
    """Measures levels of known size (natural logarithms); ``memory`` is that of the noise."""

    logs: dict[str, float]
    seed: int
    memory: float = 0.0
    steps: int = 0
    random: np.random.Generator = field(init=False)

    def __post_init__(self) -> None:
        self.random = np.random.default_rng(self.seed)

    def __call__(
        self, pairs: Sequence[tuple[str, str]], alpha: float, steps_left: int, wanted: str | None
    ) -> Step:
        del steps_left
        self.steps += 1
        baseline = pairs[0][0] if len(pairs) == 1 else pairs[0][1]
        names = list(dict.fromkeys([baseline, *(name for pair in pairs for name in pair)]))
        order, values = self._visits(names)
        declared = Declared(
            baseline, MARGIN, "bigstick" if len(names) == 2 else "blocks", "lower",
            alpha * len(pairs), len(order), _PATHS, self.seed,
        )  # fmt: skip
        found = judge_rows(TrialRows(order, values), declared)
        changes = tuple(change_of(pair, baseline, found) for pair in pairs)
        ends = [each.decided_at_visit or len(order) for each in found.verdicts]
        return Step(changes, alpha, min(ends) if wanted else max(ends))

    def _visits(self, names: list[str]) -> tuple[list[str], list[float]]:
        random = generator(self.seed * 64 + self.steps, "timing")
        if len(names) == 2:
            order = [names[i] for i in big_stick(random, _BUDGET)]
        else:
            order = [names[i] for block in blocks(random, len(names), _BUDGET // 2) for i in block]
        fresh = self.random.normal(0, _NOISE_LOG * np.sqrt(1 - self.memory**2), len(order))
        noise, last = [], self.random.normal(0, _NOISE_LOG)
        for each in fresh:
            last = self.memory * last + each
            noise.append(last)
        sizes = [self.logs[name] for name in order]
        return order, [float(np.exp(a + b)) for a, b in zip(sizes, noise, strict=True)]


def counts(change: float, searches: int, *, memory: float = 0.0) -> Counter[str]:
    """Searches with one change of a ratio (0: none) at a random level."""
    counted: Counter[str] = Counter(searches=searches)
    for seed in range(searches):
        at = int(np.random.default_rng(seed).integers(1, len(LEVELS)))
        logs = {level: float(np.log1p(change)) * (i >= at) for i, level in enumerate(LEVELS)}
        found = bisected(LEVELS, Simulated(logs, seed, memory))
        counted[found.outcome.value] += 1
        counted["visits"] += found.visits
        if found.outcome is Outcome.FOUND:
            counted["right"] += bool(change) and found.culprit == LEVELS[at]
    counted["wrong"] = counted["found"] - counted["right"]
    return counted


def main(words: Sequence[str] | None = None) -> None:
    """Prints the table of docs/methods/bisection.md."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--searches", type=int, default=200)
    parser.add_argument("--memory", type=float, nargs="*", default=[0.0, 0.9])
    parser.add_argument("--change", type=float, nargs="*", default=[0.0, 0.02, 0.04, 0.08])
    asked = parser.parse_args(words)
    searches = asked.searches
    for memory in asked.memory:
        for change in asked.change:
            got = counts(change, searches, memory=memory)
            noise = f"AR(1) {memory:g}" if memory else "independent"
            row = (noise, f"{100 * change:g} %", got["right"], got["wrong"], got["undecided"],
                   got["no_change"], round(got["visits"] / searches), searches)  # fmt: skip
            sys.stdout.write(f"| {' | '.join(map(str, row))} |\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
