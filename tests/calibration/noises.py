"""The noise zoo: what trials of one and the same system look like, in natural logarithms.

Each generator takes a random stream and a number of visits and returns one value per visit. The
numbers are part of the names: change a number and the case, its seed and its table row change.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from functools import cache, wraps
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


def drift(rng: np.random.Generator, visits: int) -> Values:
    """0.004 for each visit that has passed, added."""
    return 0.004 * np.arange(visits)


def steep_drift(rng: np.random.Generator, visits: int) -> Values:
    """0.02 for each visit that has passed, added."""
    return 0.02 * np.arange(visits)


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
    return 0.06 * (rng.random(visits) < 0.5)


def periodic(rng: np.random.Generator, visits: int) -> Values:
    """A sine of 3 % with a period of 2 to 20 visits, any phase."""
    period, phase = rng.uniform(2, 20), rng.uniform(0, 2 * np.pi)
    return 0.03 * np.sin(2 * np.pi * np.arange(visits) / period + phase)


def alternating(rng: np.random.Generator, visits: int) -> Values:
    """A sine of 3 % with a period of 2: something else runs on every other visit."""
    return 0.03 * (-1.0) ** np.arange(visits)


def stalls(rng: np.random.Generator, visits: int, share: float = 0.08) -> Values:
    """8 % of the visits lose 5 to 40 %."""
    return -1.0 * (rng.random(visits) < share) * rng.uniform(0.05, 0.40, visits)


def step(rng: np.random.Generator, visits: int) -> Values:
    """One step of 6 % at any visit."""
    return 0.06 * (np.arange(visits) >= rng.integers(1, visits))


def quantised(rng: np.random.Generator, visits: int) -> Values:
    """Values on a coarse clock: whole steps of 4 %, so that nearly all are tied."""
    return 0.04 * np.rint(independent(rng, visits) / 0.04)


def skewed(rng: np.random.Generator, visits: int) -> Values:
    """One-sided: an exponential loss with the same standard deviation, nothing else."""
    return SD - rng.exponential(SD, visits)


def sticky(rng: np.random.Generator, visits: int) -> Values:
    """A second mode 6 % higher that lasts: it begins or ends in one visit of ten."""
    turns = rng.random(visits) < 0.1
    return 0.06 * ((np.cumsum(turns) + rng.integers(2)) % 2)


def _and_its_own(machine: Noise) -> Noise:
    """What the machine does in a visit, and the independent part of that visit; in this order."""

    @wraps(machine)
    def noise(rng: np.random.Generator, visits: int) -> Values:
        return machine(rng, visits) + independent(rng, visits)

    return noise


NOISES: dict[str, Noise] = {
    "independent 2 %": independent,
    "t with 3 df, 2 %": heavy_tailed,
    "drift 0.4 % a visit": _and_its_own(drift),
    "drift 2 % a visit": _and_its_own(steep_drift),
    "AR(1) 0.9": autocorrelated,
    "bimodal 6 %": _and_its_own(bimodal),
    "sine 3 %, period 2 to 20": _and_its_own(periodic),
    "sine 3 %, period 2": _and_its_own(alternating),
    "stalls 8 % x 5 to 40 %": _and_its_own(stalls),
    "step 6 %": _and_its_own(step),
    "quantised to 4 %": quantised,
    "exponential loss 2 %": skewed,
    "sticky modes 6 %": _and_its_own(sticky),
}
FOUR = ("independent 2 %", "drift 0.4 % a visit", "AR(1) 0.9", "bimodal 6 %")
MACHINES: dict[str, Noise] = {
    "drift 0.4 % a visit": drift,
    "AR(1) 0.9": autocorrelated,
    "bimodal 6 %": bimodal,
    "sine 3 %, period 2 to 20": periodic,
    "step 6 %": step,
    "sticky modes 6 %": sticky,
}
"""What of a noise the machine does, and a canary before the visit can hear. Not stalls, which
come and go within a visit, nor what is independent."""
HEARING = ((1.0, 0.005), (0.5, 0.01), (0.0, 0.01))
"""Parts of a canary: how much of the machine each hears, and the deviation of its own."""


def heard(name: str, rng: np.random.Generator, visits: int) -> tuple[Values, Values]:
    """One of the noises, and the parts of the reference kernel before each visit, as columns."""
    same = deepcopy(rng)  # the machine is drawn first, so the same stream gives the same machine
    values, machine = NOISES[name](rng, visits), MACHINES[name](same, visits)
    parts = [share * machine + rng.normal(0.0, sd, visits) for share, sd in HEARING]
    return values, np.column_stack(parts)


def named(name: str) -> Noise:
    """A noise of the zoo, or of a bank by the name of its file."""
    return bank_noise(BANKS / f"{name}.csv.gz") if name in bank_names() else NOISES[name]


BANKS = Path(__file__).parent / "banks"


def bank_names() -> list[str]:
    """The banks that are kept here."""
    return sorted(path.name.removesuffix(".csv.gz") for path in BANKS.glob("*.csv.gz"))


def bank_noise(path: Path) -> Noise:
    """Real trials of one system: as many in a row as there are visits, from anywhere in a bank.

    Not from where a trial saw no operation at all: of 0 there is no ratio, and the judge says so.
    """
    values = _logs(path)

    def replayed(rng: np.random.Generator, visits: int) -> Values:
        known = np.lib.stride_tricks.sliding_window_view(np.isfinite(values), visits).all(axis=1)
        start = int(rng.choice(np.flatnonzero(known)))
        return values[start : start + visits]

    return replayed


@cache
def _logs(path: Path) -> Values:
    bank = read_bank(path)
    sign = 1.0 if bank.direction == "higher" else -1.0
    with np.errstate(divide="ignore"):
        logs = sign * np.log([trial.value for trial in bank.trials])
    return np.asarray(logs - np.median(logs))
