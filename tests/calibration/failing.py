"""Failures of equal systems: operations that fail together, and percentiles without a value."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from unittest.mock import patch

import numpy as np
from scipy.stats import chi2_contingency
from tests.calibration.gate import ALPHA
from tests.calibration.guarding import failed
from tests.calibration.recorded import BASE, OTHER, PATHS, measured, study_of
from tests.calibration.tally import Tally
from tests.unit.judge.studies import RESPONSES

from steelyard.inference.confidence import UNBOUNDED, Size
from steelyard.inference.ratio_tests import Inference
from steelyard.inference.sequential import VerdictWord
from steelyard.judge.analyses.failures import count
from steelyard.judge.comparisons.comparison import judge
from steelyard.judge.comparisons.families import comparisons
from steelyard.judge.visits.pairs import Pair
from steelyard.judge.visits.readings import Readings
from steelyard.records.missing import FailedBeyond
from steelyard.records.schema import Measured
from steelyard.study import workload_study

_OPERATIONS = 5_000
_DIFFERENT = {VerdictWord.FASTER, VerdictWord.SLOWER}


@dataclass(frozen=True)
class Failing:
    """Operations of both systems fail alike: ``share`` of them, ``clustered`` by visit."""

    share: float
    clustered: float

    @property
    def name(self) -> str:
        apart = f"cluster by {self.clustered:g}" if self.clustered else "independent"
        return f"{100 * self.share:g} % of the operations of both, {apart}"

    def beside(self, _system: str, rng: np.random.Generator) -> dict[str, Measured]:
        return {"errors": failed(self.share, self.clustered, _OPERATIONS, rng)}


CASES = (Failing(0.01, 0.0), Failing(0.01, 0.01), Failing(0.0002, 0.001), Failing(0.3, 0.05))
UNDEFINED = (0.1, 0.4)
"""Shares of the visits of both systems whose percentile has no value."""


def unequal_failures(case: Failing, batch: int, studies: int) -> Tally:
    """Studies that say that one fails more: the judge's, and a test of pooled counts."""
    study = study_of()
    counts: Counter[str] = Counter()
    for number in range(studies):
        plan, records = measured(
            study,
            f"failures: {case.name}",
            1_000 * batch + number,
            noise="independent 2 %",
            effect=0.0,
            beside=case.beside,
        )
        told = tuple(count.failure_findings(plan, records))
        with patch.object(Inference, "sizes", _no_end):  # intervals take longest
            found = next(
                count.failure_contrasts(
                    study, [Pair(BASE, OTHER)], Readings(plan, records, paths=PATHS), told
                )
            )
        counts["wrong"] += found.word in {"fails_more", "fails_less"}
        table = [[f.failed or 0, (f.operations or 0) - (f.failed or 0)] for f in told]
        counts["pooled"] += min(map(sum, zip(*table, strict=True))) > 0 and bool(
            chi2_contingency(table).pvalue < ALPHA
        )
    return Tally(studies, counts)


def _no_end(*_given: object) -> list[Size]:
    return [Size(UNBOUNDED, UNBOUNDED)]


def undefined_percentiles(share: float, batch: int, studies: int) -> Tally:
    """Equal systems judged by a percentile that failed operations leave without a value."""
    responses = {
        "p99": RESPONSES["p99"].model_copy(update={"primary": True}),
        "rate": RESPONSES["rate"].model_copy(update={"primary": False}),
    }
    study = study_of(responses=responses)
    own = workload_study.study_of(study, {})
    wrong = 0
    for number in range(studies):
        plan, records = measured(
            study,
            f"undefined: {share:g}",
            1_000 * batch + number,
            noise="independent 2 %",
            effect=0.0,
            beside=lambda _system, rng: {"p99": _percentile(share, rng)},
        )
        comparison = next(each for each in comparisons(own, plan) if not each.exploratory)
        found = judge(comparison, Readings(plan, records, paths=PATHS), study.trials.margin_log)
        wrong += bool(_DIFFERENT & set(found.decision.words))
    return Tally(studies, Counter(wrong=wrong))


def _percentile(share: float, rng: np.random.Generator) -> Measured:
    value = 1e6 * float(np.exp(rng.normal(0, 0.02)))
    if rng.random() < share:
        return Measured(
            value=None, unit="ns", missing=FailedBeyond(failed_share=1.0), infinite=True
        )
    return Measured(value=value, unit="ns")
