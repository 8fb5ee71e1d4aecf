"""Throughput over the load as systems are known to behave, and studies simulated from it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

from steelyard.judge.analyses.scaling.curve import curve_of
from steelyard.judge.analyses.scaling.findings import ScalingFinding
from steelyard.judge.analyses.scaling.readings import Axis, Course
from steelyard.judge.analyses.scaling.table import Table
from steelyard.study.model import ResponseSpec

Floats = npt.NDArray[np.float64]
Law = Callable[[Floats], Floats]

LEVELS = np.array([1.0, 2, 4, 8, 16, 32, 64, 128])
NOISE, BETWEEN_VISITS, VISITS, MARGIN_LOG = 0.03, 0.05, 3, 0.02
THROUGHPUT = ResponseSpec(
    name="rate", label="throughput", unit="1/s", direction="higher", primary=True
)


def usl(contention: float, peak_at: float) -> Law:
    """The law with its peak at a known place."""
    coherence = (1 - contention) / peak_at**2
    return lambda n: n / (1 + contention * (n - 1) + coherence * n * (n - 1))


def amdahl(contention: float) -> Law:
    """Contention alone: it grows for ever, ever more slowly."""
    return lambda n: n / (1 + contention * (n - 1))


def saturating(most: float) -> Law:
    """In proportion to the load up to the most there is, and no further."""
    return lambda n: np.minimum(n, most)


def rounded(most: float) -> Law:
    """The same with a smooth corner."""
    return lambda n: most * (1 - np.exp(-n / most))


def axis(levels: Floats = LEVELS) -> Axis:
    return Axis("load.users", tuple(levels), ({},), THROUGHPUT)


def table(law: Law, seed: int, visits: int = VISITS, levels: Floats = LEVELS) -> Table:
    """One simulated system: a law, spread between visits, and noise of every trial."""
    random = np.random.default_rng([seed, visits, len(levels)])
    offsets = random.normal(0, BETWEEN_VISITS, (visits, 1))
    noise = random.normal(0, NOISE, (visits, len(levels)))
    return Table(levels, 7.0 + np.log(law(levels)) + offsets + noise)


def judged(found: Table) -> ScalingFinding:
    """What the judge says of one table."""
    course = Course("a", {}, found, (), ())
    return curve_of(course, axis(found.levels), MARGIN_LOG)


def studies(law: Law, count: int, first: int = 0) -> Iterator[ScalingFinding]:
    for seed in range(first, first + count):
        yield judged(table(law, seed))


PEAK_AT = 70.0
PEAKLESS: dict[str, Law] = {
    "hard saturation at 10": saturating(10.0),
    "hard saturation at 20": saturating(20.0),
    "soft saturation at 12": rounded(12.0),
    "soft saturation at 20": rounded(20.0),
    "Amdahl 3 %": amdahl(0.03),
    "Amdahl 10 %": amdahl(0.10),
}
FALLING = usl(0.03, 66.25)
"""10 % less at 128 users than at 64, its best earlier level."""


def holds(found: ScalingFinding, peak_at: float) -> bool:
    """Whether the interval of the peak in the findings holds the true one."""
    if found.peak is None:
        return False
    return found.peak.at_low <= peak_at <= (found.peak.at_high or np.inf)
