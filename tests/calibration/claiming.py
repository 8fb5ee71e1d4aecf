"""Claims whose bound is the truth itself: neither supported nor contradicted may be said often."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass

from tests.calibration.recorded import BASE, OTHER, PATHS, measured, nothing_beside, study_of
from tests.calibration.tally import Tally

from steelyard.judge.analyses.claims.bounds import bounded
from steelyard.judge.analyses.claims.findings import ClaimWord
from steelyard.judge.analyses.claims.judged import judge_part, word_of
from steelyard.judge.visits.readings import Readings
from steelyard.study import workload_study
from steelyard.study.model import ClaimSpec

_MARGIN_LOG = math.log1p(0.02)
_FIVE = math.log(1.05)


@dataclass(frozen=True)
class Claiming:
    """Claims of one study, and the true ratio as a natural logarithm."""

    words: str
    claims: tuple[ClaimSpec, ...]
    effect: float
    noise: str = "independent 2 %"

    @property
    def name(self) -> str:
        return f"{self.words}, {self.noise}"


def _claim(kind: str, factor: float | None = None) -> ClaimSpec:
    return ClaimSpec.model_validate(
        {"id": kind, "kind": kind, "subject": OTHER, "other": BASE, "factor": factor}
    )


_AT_LEAST, _AT_MOST = _claim("at_least", 1.05), _claim("at_most", 1.05)
_WITHIN, _FASTER = _claim("within", 0.05), _claim("faster_than")
AT_THE_BOUND = (
    Claiming("at least 1.05 times, which it is", (_AT_LEAST,), _FIVE),
    Claiming("at least 1.05 times, which it is", (_AT_LEAST,), _FIVE, "AR(1) 0.9"),
    Claiming("within 5 %, at its upper end", (_WITHIN,), _FIVE),
    Claiming("equivalent, at the margin", (_claim("equivalent_to"),), _MARGIN_LOG),
    Claiming("no worse, worse by the margin", (_claim("no_worse_than"),), -_MARGIN_LOG),
    Claiming("faster, equal", (_FASTER,), 0.0, "drift 0.4 % a visit"),
    Claiming("three claims with bounds at 1.05", (_AT_LEAST, _AT_MOST, _WITHIN), _FIVE),
)
CLEAR = (
    Claiming("faster, by 5 %", (_FASTER,), _FIVE),
    Claiming("within 5 %, equal", (_WITHIN,), 0.0),
)
"""What is true by a wide berth: *supported* is right, and how often is shown."""
UNTRUE = (Claiming("within 5 %, 12 % more", (_WITHIN,), math.log(1.12)),)


def claimed(case: Claiming, batch: int, studies: int) -> Tally:
    """Studies in which any of the claims is supported, and in which any is contradicted."""
    study = study_of(claims=case.claims)
    own = workload_study.study_of(study, {})
    counts: Counter[str] = Counter()
    for number in range(studies):
        plan, records = measured(
            study,
            f"claim: {case.name}",
            1_000 * batch + number,
            noise=case.noise,
            effect=case.effect,
            beside=nothing_beside,
        )
        readings = Readings(plan, records, paths=PATHS)
        words = {
            word_of([judge_part(claim, part, readings, _MARGIN_LOG) for part in claim.parts])
            for claim in bounded(own, plan)
        }
        counts.update(str(word) for word in words & {ClaimWord.SUPPORTED, ClaimWord.CONTRADICTED})
    return Tally(studies, counts)
