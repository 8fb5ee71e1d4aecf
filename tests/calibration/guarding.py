"""Guards at their margin: the other system is faster, and worse in what is guarded by as much.

*Faster* must then be withheld; that it is not in 5 % of studies is what a guard may err.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass

import numpy as np
from tests.calibration.recorded import OTHER, PATHS, measured, study_of
from tests.calibration.tally import Tally

from steelyard.inference.sequential import VerdictWord
from steelyard.judge.comparisons.comparison import judge
from steelyard.judge.comparisons.families import comparisons
from steelyard.judge.visits.readings import Readings
from steelyard.records.schema import Measured
from steelyard.study import workload_study
from steelyard.study.model import GuardrailSpec

AHEAD_LOG = math.log(1.087)
TAIL = GuardrailSpec(name="p99", label="p99", unit="ns", direction="lower", margin=0.25)
FAILURES = GuardrailSpec(
    name="errors", label="errors", unit="ratio", direction="lower", margin=0.001, absolute=True
)
_OPERATIONS = 20_000
_TAIL_SD = 0.10


@dataclass(frozen=True)
class Guarding:
    """``times``: how many of its margins the other system is worse by. ``clustered``: the part of
    the variance of a failure that its visit makes; ``noise`` is that of the rate.
    """

    guard: GuardrailSpec
    times: float
    noise: str = "independent 2 %"
    clustered: float = 0.0

    @property
    def name(self) -> str:
        apart = "" if not self.clustered else f" that cluster by {self.clustered:g}"
        return (
            f"{self.guard.label}{apart} worse by {self.times:g} margin"
            f"{'s' if self.times != 1 else ''}, {self.noise}"
        )

    def beside(self, system: str, rng: np.random.Generator) -> dict[str, Measured]:
        other = system == OTHER
        if self.guard is TAIL:
            worse = self.times * math.log1p(TAIL.margin) * other
            value = 1e6 * math.exp(worse + rng.normal(0, _TAIL_SD))
            return {"p99": Measured(value=value, unit="ns")}
        share = 0.0005 + self.times * FAILURES.margin * other
        return {"errors": failed(share, self.clustered, _OPERATIONS, rng)}


def failed(share: float, clustered: float, of: int, rng: np.random.Generator) -> Measured:
    """A share of failed operations, which cluster by visit (beta binomial)."""
    if clustered:
        whole = 1 / clustered - 1
        share = rng.beta(share * whole, (1 - share) * whole)
    return Measured(value=float(rng.binomial(of, share)) / of, unit="ratio", of=of)


CASES = (
    *(
        Guarding(TAIL, 1, noise)
        for noise in ("independent 2 %", "drift 0.4 % a visit", "AR(1) 0.9", "bimodal 6 %")
    ),
    Guarding(FAILURES, 1),
    Guarding(FAILURES, 1, clustered=0.001),
    Guarding(TAIL, 3),
    Guarding(FAILURES, 3),
    Guarding(TAIL, 0),
    Guarding(FAILURES, 0),
    Guarding(FAILURES, 0, clustered=0.001),
)


def guarded(case: Guarding, batch: int, studies: int) -> Tally:
    """Words on the rate, with all visits: what a guard has put out at any look stays out."""
    study = study_of(guardrails={case.guard.name: case.guard})
    own = workload_study.study_of(study, {})
    words: Counter[str] = Counter()
    for number in range(studies):
        plan, records = measured(
            study,
            f"guard: {case.name}",
            1_000 * batch + number,
            noise=case.noise,
            effect=AHEAD_LOG,
            beside=case.beside,
        )
        comparison = next(each for each in comparisons(own, plan) if not each.exploratory)
        said = judge(
            comparison, Readings(plan, records, paths=PATHS), study.trials.margin_log
        ).words
        words.update(str(word) for word in said or (VerdictWord.UNDECIDED,))
    return Tally(studies, words)
