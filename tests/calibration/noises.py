"""The noise zoo: what trials of one and the same system look like, in natural logarithms.

Each generator takes a random stream and a number of visits and returns one value per visit. The
numbers are part of the names: change a number and the case, its seed and its table row change.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from steelyard.traces.bank import read_bank

Values = npt.NDArray[np.float64]
Noise = Callable[[np.random.Generator, int], Values]

SD = 0.02


def independent(rng: np.random.Generator, visits: int) -> Values:
    """Normal, standard deviation 0.02; part of all others unless they say what they are alone."""
    return rng.normal(0.0, SD, visits)


def heavy_tailed(rng: np.random.Generator, visits: int) -> Values:
    """Student t with 3 degrees of freedom, scaled to the same standard deviation; nothing added."""
    return rng.standard_t(3, visits) * SD / np.sqrt(3)


def drifting(rng: np.random.Generator, visits: int) -> Values:
    """0.004 for each visit that has passed, added."""
    return 0.004 * np.arange(visits) + independent(rng, visits)


def drifting_steeply(rng: np.random.Generator, visits: int) -> Values:
    """0.02 for each visit that has passed, added."""
    return 0.02 * np.arange(visits) + independent(rng, visits)


def autocorrelated(rng: np.random.Generator, visits: int) -> Values:
    """AR(1) with coefficient 0.9 and marginal deviation 0.02, stationary; nothing added."""
    shocks = rng.normal(0.0, SD * np.sqrt(1 - 0.9**2), visits)
    values = np.empty(visits)
    values[0] = rng.normal(0.0, SD)
    for visit in range(1, visits):
        values[visit] = 0.9 * values[visit - 1] + shocks[visit]
    return values


def bimodal(rng: np.random.Generator, visits: int) -> Values:
    """A second mode 6 % higher in half of the visits."""
    return 0.06 * (rng.random(visits) < 0.5) + independent(rng, visits)


def periodic(rng: np.random.Generator, visits: int) -> Values:
    """A sine of 3 % with a period of 2 to 20 visits, any phase."""
    period, phase = rng.uniform(2, 20), rng.uniform(0, 2 * np.pi)
    waves = np.sin(2 * np.pi * np.arange(visits) / period + phase)
    return 0.03 * waves + independent(rng, visits)


def alternating(rng: np.random.Generator, visits: int) -> Values:
    """A sine of 3 % with a period of 2: something else runs on every other visit."""
    return 0.03 * (-1.0) ** np.arange(visits) + independent(rng, visits)


def stalling(rng: np.random.Generator, visits: int) -> Values:
    """8 % of the visits lose 5 to 40 %."""
    stalls = (rng.random(visits) < 0.08) * rng.uniform(0.05, 0.40, visits)
    return independent(rng, visits) - stalls


def stepping(rng: np.random.Generator, visits: int) -> Values:
    """One step of 6 % at any visit."""
    return 0.06 * (np.arange(visits) >= rng.integers(1, visits)) + independent(rng, visits)


def quantised(rng: np.random.Generator, visits: int) -> Values:
    """Values on a coarse clock: whole steps of 4 %, so that nearly all are tied."""
    return 0.04 * np.rint(independent(rng, visits) / 0.04)


def skewed(rng: np.random.Generator, visits: int) -> Values:
    """One-sided: an exponential loss with the same standard deviation, nothing else."""
    return SD - rng.exponential(SD, visits)


def sticky(rng: np.random.Generator, visits: int) -> Values:
    """A second mode 6 % higher that lasts: it begins or ends in one visit of ten."""
    turns = rng.random(visits) < 0.1
    return 0.06 * ((np.cumsum(turns) + rng.integers(2)) % 2) + independent(rng, visits)


NOISES: dict[str, Noise] = {
    "independent 2 %": independent,
    "t with 3 df, 2 %": heavy_tailed,
    "drift 0.4 % a visit": drifting,
    "drift 2 % a visit": drifting_steeply,
    "AR(1) 0.9": autocorrelated,
    "bimodal 6 %": bimodal,
    "sine 3 %, period 2 to 20": periodic,
    "sine 3 %, period 2": alternating,
    "stalls 8 % x 5 to 40 %": stalling,
    "step 6 %": stepping,
    "quantised to 4 %": quantised,
    "exponential loss 2 %": skewed,
    "sticky modes 6 %": sticky,
}
FOUR = ("independent 2 %", "drift 0.4 % a visit", "AR(1) 0.9", "bimodal 6 %")


def named(name: str) -> Noise:
    """A noise of the zoo, or of a bank by the name of its file."""
    return bank_noise(BANKS / f"{name}.csv.gz") if name in bank_names() else NOISES[name]


BANKS = Path(__file__).parent / "banks"


def bank_names() -> list[str]:
    """The banks that are kept here."""
    return sorted(path.name.removesuffix(".csv.gz") for path in BANKS.glob("*.csv.gz"))


def bank_noise(path: Path) -> Noise:
    """Real trials of one system: as many in a row as there are visits, from anywhere in a bank."""
    values = _logs(path)

    def replayed(rng: np.random.Generator, visits: int) -> Values:
        start = int(rng.integers(0, len(values) - visits + 1))
        return values[start : start + visits]

    return replayed


@cache
def _logs(path: Path) -> Values:
    bank = read_bank(path)
    sign = 1.0 if bank.direction == "higher" else -1.0
    logs = sign * np.log([trial.value for trial in bank.trials])
    return np.asarray(logs - np.median(logs))
