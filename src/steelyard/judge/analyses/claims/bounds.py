"""From a claim to comparisons: who, against whom, under which conditions, within which ratios."""

from __future__ import annotations

import math
from dataclasses import dataclass

from steelyard.judge.analyses.claims.findings import ClaimFamily
from steelyard.judge.comparisons.families import contestants
from steelyard.judge.visits.pairs import Pair
from steelyard.plan.model import Plan
from steelyard.study.model import ClaimSpec, ResponseSpec
from steelyard.study.workload_study import WorkloadStudy

PEAK = "peak_users"


@dataclass(frozen=True)
class Part:
    """One ratio that a claim bounds; ``pair.other`` is the subject. Natural logarithms, raw."""

    pair: Pair
    low: float
    high: float


@dataclass(frozen=True)
class Bounded:
    """A claim of ratios with its part of the error rate; ``rate`` is that of each test.

    ``span_s``: the least time within which the visits of an answer lie.
    """

    spec: ClaimSpec
    response: ResponseSpec
    parts: tuple[Part, ...]
    alpha: float
    rate: float
    family: ClaimFamily
    span_s: float | None = None


def bounded(study: WorkloadStudy, plan: Plan) -> tuple[Bounded, ...]:
    """The claims of ratios, in the order of the study; they share one error rate of it."""
    claims = [claim for claim in study.claims if claim.kind != PEAK]
    alpha = study.trials.alpha
    return tuple(_bounded(claim, study, plan, alpha, len(claims)) for claim in claims)


def _bounded(
    claim: ClaimSpec, study: WorkloadStudy, plan: Plan, alpha: float, claims: int
) -> Bounded:
    response = study.primary if claim.response is None else study.responses[claim.response]
    low, high = _range(claim, response, study.trials.margin_log)
    other = claim.other or study.baseline
    parts = tuple(
        Part(Pair(other, name), low, high) for name in _subjects(claim, study, plan, other)
    )
    tests = claims * max(1, len(parts))
    return Bounded(
        spec=claim,
        response=response,
        parts=parts,
        alpha=alpha,
        rate=alpha / tests,
        family=ClaimFamily(claims=claims, parts=len(parts)),
        span_s=study.trials.span_s,
    )


def _subjects(claim: ClaimSpec, study: WorkloadStudy, plan: Plan, other: str) -> list[str]:
    if claim.subject is not None:
        return [claim.subject]
    left = {*claim.excepted, other}
    return [name for name in contestants(study, plan) if name not in left]


def _range(claim: ClaimSpec, response: ResponseSpec, margin: float) -> tuple[float, float]:
    """The ratios that the claim allows, subject over other, in the raw response."""
    share = math.log(claim.factor) if claim.factor else 0.0
    raw = {
        "at_least": (share, math.inf),
        "at_most": (-math.inf, share),
        "within": (-math.log1p(claim.factor or 0.0), math.log1p(claim.factor or 0.0)),
        "equivalent_to": (-margin, margin),
    }
    if claim.kind in raw:
        return raw[claim.kind]
    better = {
        "faster_than": (0.0, math.inf),
        "slower_than": (-math.inf, 0.0),
        "no_worse_than": (-margin, math.inf),
    }
    low, high = better[claim.kind]
    return (-high, -low) if response.direction == "lower" else (low, high)
