"""What a gate is, simulated: G28. Written before anything was measured.

``steelyard gate STUDY --budget 15min`` of the guide: two systems, a big-stick order, both up, a
visit of 800 ms (100 ms of warm-up, 600 ms of window), margin 5 %, at most 1,000 visits, which is
what its plan holds; one response. The judge looks as in any study; the run ends
at the first word, or with the plan. The gate fails when that word is *slower*. Of two equal builds
that is false; a build with a ratio of 0.9 it is to find.

Noise: recorded trials of one system in a row, each taken for a visit, from anywhere in a bank.
Changing load: a quiet and a busy recording of the same work in turn, at the level that each had,
or a load that comes and goes over a quiet one. *Windows*: a visit is the mean over as many trials
as 800 ms hold, and the plan is what the recording lasts, from anywhere in it and round its end.
Orders are simulated 4,000 times instead of 20,000.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
from tests.calibration.batched import judged
from tests.calibration.cells import Batch, big_stick, generator_of
from tests.calibration.gate import ALPHA
from tests.calibration.noises import BANKS, Values, bank_names, named
from tests.calibration.tally import Tally

from steelyard.inference import randomisation
from steelyard.inference.reach import found_log
from steelyard.inference.sequential import VerdictWord
from steelyard.traces.bank import read_bank

VISITS = 1_000
VISIT_S = 0.8
MARGIN_LOG = math.log1p(0.05)
SLOWER_LOG = math.log(0.9)
PATHS = 4_000
LASTS = 50
"""Visits that a load lasts, on average."""
_LOAD_LOG, _DRIFT_LOG = math.log(0.7), math.log(0.8)
PAIRS = {
    "cpu": ("quiet-vm-cpu", "busy-vm-cpu"),
    "disk": ("shared-vm-disk", "busy-vm-disk"),
    "loopback": ("quiet-vm-loopback", "busy-vm-loopback"),
    "memory": ("quiet-vm-memory", "busy-vm-memory"),
}


@dataclass(frozen=True)
class Gate:
    """Gates of one kind: what is measured, under what, with which true ratio (as a logarithm)."""

    noise: str
    effect: float
    visits: int
    draw: Callable[[np.random.Generator], Values]

    @property
    def name(self) -> str:
        ratio = math.exp(self.effect)
        return f"{self.noise}, {self.visits} visits, ratio {ratio:.4f}"

    def drawn(self, batch: int, studies: int) -> Batch:
        rng = generator_of(f"gate: {self.name}", batch)
        signs = big_stick(studies, self.visits, rng)
        values = np.array([self.draw(rng) for _ in range(studies)])
        simulated = randomisation.big_stick(PATHS, self.visits, rng)
        return Batch(values + self.effect * (signs.T > 0), signs, simulated)


def gates(effect: float) -> list[Gate]:
    """Every noise and load, with this true ratio."""
    found = [Gate(bank, effect, VISITS, _alone(bank)) for bank in bank_names()]
    for work, names in PAIRS.items():
        found.append(Gate(f"{work}, quiet and busy in turn", effect, VISITS, _in_turn(names)))
    for quiet, _ in PAIRS.values():
        loaded = f"{quiet}, a load comes and goes, drift"
        found.append(Gate(loaded, effect, VISITS, _loaded(quiet)))
    for bank in bank_names():
        windows = _windows(bank)
        found.append(Gate(f"{bank}, windows", effect, len(windows), _round(windows)))
    return found


POWERS = ((24, 0.05), (96, 0.02), (96, 0.05), (96, 0.1), (300, 0.05), (300, 0.2), (1_000, 0.05),
          (1_000, 0.2), (1_000, 0.4))  # fmt: skip
"""Visits and noise of one, at which the printed *finds* is held against simulation."""


def powers() -> list[Gate]:
    """Independent noise, and the difference that the plan says it finds in nine of ten runs."""
    return [_power(visits, noise) for visits, noise in POWERS]


def _power(visits: int, noise: float) -> Gate:
    def draw(rng: np.random.Generator) -> Values:
        return rng.normal(0.0, noise, visits)

    effect = -found_log(visits, noise, ALPHA / 2, MARGIN_LOG)
    return Gate(f"independent {100 * noise:.0f} %", effect, visits, draw)


def gated(gate: Gate, batch: int, studies: int) -> Tally:
    """How the runs end, and after how many visits."""
    outcomes = judged(gate.drawn(batch, studies), gate.visits, margin=MARGIN_LOG)
    said = Counter(str(word) for each in outcomes for word in each.words)
    said["fails"] = sum(VerdictWord.SLOWER in each.words for each in outcomes)
    said["undecided"] = sum(not each.words for each in outcomes)
    return Tally(studies, said, Counter(each.at or gate.visits for each in outcomes))


def _alone(bank: str) -> Callable[[np.random.Generator], Values]:
    return lambda rng: named(bank)(rng, VISITS)


def _in_turn(names: tuple[str, str]) -> Callable[[np.random.Generator], Values]:
    def draw(rng: np.random.Generator) -> Values:
        busy = _comes_and_goes(rng)
        recorded = [_round(_levels(name))(rng, VISITS) for name in names]
        return np.where(busy, recorded[1], recorded[0])

    return draw


def _loaded(bank: str) -> Callable[[np.random.Generator], Values]:
    def draw(rng: np.random.Generator) -> Values:
        drift = _DRIFT_LOG * np.arange(VISITS) / VISITS
        return named(bank)(rng, VISITS) + _LOAD_LOG * _comes_and_goes(rng) + drift

    return draw


def _comes_and_goes(rng: np.random.Generator) -> Values:
    turns = rng.random(VISITS) < 1 / LASTS
    return (np.cumsum(turns) + rng.integers(2)) % 2


def _round(values: Values) -> Callable[..., Values]:
    """All of a series, or the first so many of it, from anywhere and round its end."""

    def draw(rng: np.random.Generator, visits: int | None = None) -> Values:
        return np.roll(values, int(rng.integers(len(values))))[:visits]

    return draw


@cache
def _levels(name: str) -> Values:
    """The logarithms of a bank, of which a trial without an operation is left out."""
    bank = read_bank(BANKS / f"{name}.csv.gz")
    sign = 1.0 if bank.direction == "higher" else -1.0
    return np.array([sign * math.log(trial.value) for trial in bank.trials if trial.value > 0])


@cache
def _windows(name: str) -> Values:
    """Means over trials that together last as long as a visit, as logarithms."""
    bank = read_bank(BANKS / f"{name}.csv.gz")
    sign = 1.0 if bank.direction == "higher" else -1.0
    began = np.array([trial.started_s for trial in bank.trials])
    values = np.array([trial.value for trial in bank.trials])
    count = max(1, round(VISIT_S / float(np.median(np.diff(began)))))
    whole = values[: len(values) // count * count].reshape(-1, count).mean(axis=1)
    return np.asarray(sign * np.log(whole))
