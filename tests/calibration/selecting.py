"""Simulated races of many candidates: how often the named one is too bad, and what it costs.

    python -m tests.calibration.selecting [--races 200] [--count 50] [--case ...] [--noise ...]

The oracle is the same elimination on the same noise in the same orders, told what the noise is: the
standard deviation of a visit, its autocorrelation, and its trend. It estimates levels alone. The
best fixed allocation knows the differences, too: of one best among equals it is the same number of
visits for each, so many that the largest mean is that of the best in 95 %.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from tests.calibration.cells import generator_of
from tests.calibration.noises import NOISES, SD, Values

from steelyard.inference.probability.distributions import normal_above, normal_density
from steelyard.inference.selection import Noise, Selection, levels, look_is_due

MARGIN = math.log1p(0.02)
ALPHA = 0.05
BEYOND = 1.05 * MARGIN
"""Just too much: to name one that is so much worse than the best is wrong."""
_MOST_VISITS = 20_000
_NOISY = 4.0

TOLD = {
    "independent 2 %": Noise(SD),
    "t with 3 df, 2 %": Noise(SD),
    "drift 2 % a visit": Noise(SD),
    "AR(1) 0.9": Noise(SD * math.sqrt(1 - 0.9**2), 0.9),
    "bimodal 6 %": Noise(math.hypot(SD, 0.03)),
}
"""What the oracle knows: standard deviations of innovations, and the coefficient."""
UNTOLD = ("stalls 8 % x 5 to 40 %", "sticky modes 6 %", "sine 3 %, period 2")
"""Noises of which it knows nothing."""
CASES = ("one best", "all equal", "ten best", "ladder of half a margin", "ladder of a margin")
UNLIKE = ("one best, another noisy", "one best that is noisy")
"""One candidate has four times the noise."""


def effects(case: str, count: int) -> Values:
    """Natural logarithms of all candidates, larger is better."""
    places = np.arange(count)
    return {
        "all equal": np.zeros(count),
        "ten best": np.where(places < 10, BEYOND, 0.0),
        "ladder of half a margin": -0.5 * BEYOND * places,
        "ladder of a margin": -BEYOND * places,
    }.get(case, np.where(places == 0, BEYOND, 0.0))


@dataclass(frozen=True)
class Ended:
    """One elimination: who was named, in how many visits."""

    best: int
    visits: int


def elimination(
    sizes: Values, noise: Values, seed: int, known: Noise | None = None, noisy: int | None = None
) -> Ended:
    """To the end; ``noise`` goes by the clock, and is four times as large for the ``noisy``."""
    random = np.random.default_rng(seed)
    selection = Selection(len(sizes), MARGIN, ALPHA)
    order: list[int] = []
    blocks = looked = 0
    while selection.best is None:
        order += [int(i) for i in random.permutation(selection.remaining)]
        blocks += 1
        if not look_is_due(blocks, len(order), looked):
            continue
        looked = len(order)
        candidates = np.array(order)
        spread = np.where(candidates == noisy, _NOISY, 1.0)
        values = sizes[candidates] + noise[:looked] * spread
        selection.look(levels(values, candidates, len(sizes), known))
    return Ended(selection.best, len(order))


@dataclass
class Row:
    """One cell of the table."""

    races: int
    wrong: int = 0
    visits: int = 0
    oracle_wrong: int = 0
    oracle_visits: int = 0

    @property
    def ratio(self) -> float:
        """Visits over those of the oracle."""
        return self.visits / self.oracle_visits if self.oracle_visits else math.nan


def cell(case: str, name: str, count: int, races: int) -> Row:
    """Races of one case under one noise, each with that of the oracle where there is one."""
    rng, row = generator_of(f"selection: {case}, {name}, {count}", 0), Row(races)
    drift = 0.02 * np.arange(_MOST_VISITS) * (name == "drift 2 % a visit")
    noisy = {UNLIKE[0]: 1, UNLIKE[1]: 0}.get(case)
    for seed in range(races):
        places = rng.permutation(count)
        sizes = np.empty(count)
        sizes[places] = effects(case, count)
        noise = NOISES[name](rng, _MOST_VISITS)
        own = elimination(sizes, noise, seed, noisy=None if noisy is None else int(places[noisy]))
        row.visits += own.visits
        row.wrong += bool(sizes[own.best] < sizes.max() - MARGIN)
        if name in TOLD and noisy is None:
            told = elimination(sizes, noise - drift, seed, TOLD[name])
            row.oracle_visits += told.visits
            row.oracle_wrong += bool(sizes[told.best] < sizes.max() - MARGIN)
    return row


def fixed_visits(count: int, sd: float) -> int:
    """The best fixed allocation for one best among equals under independent noise."""
    place = np.linspace(-8, 8, 4001)
    for each in range(1, 1000):
        below = 1 - normal_above(place + BEYOND * math.sqrt(each) / sd)
        chance = np.sum(normal_density(place) * below ** (count - 1)) * (place[1] - place[0])
        if chance >= 1 - ALPHA:
            return each * count
    raise ValueError("the noise is too large")


def main(words: Sequence[str] | None = None) -> None:
    """Prints the table of docs/methods/selection.md."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--races", type=int, default=200)
    parser.add_argument("--count", type=int, nargs="*", default=[50, 64])
    parser.add_argument("--case", nargs="*", default=[*CASES])
    parser.add_argument("--noise", nargs="*", default=[*TOLD])
    asked = parser.parse_args(words)
    for count in asked.count:
        for name in asked.noise:
            for case in asked.case:
                row = cell(case, name, count, asked.races)
                shown = (count, name, case, f"{row.wrong} of {asked.races}",
                         round(row.visits / asked.races), row.oracle_wrong,
                         round(row.oracle_visits / asked.races), f"{row.ratio:.2f}")  # fmt: skip
                sys.stdout.write(f"| {' | '.join(map(str, shown))} |\n")
                sys.stdout.flush()


if __name__ == "__main__":
    main()
