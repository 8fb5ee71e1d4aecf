"""Exploratory comparisons: each by itself at the whole error rate; none stops a study."""

from __future__ import annotations

from collections.abc import Iterator

from steelyard.judge.comparisons.comparison import judge
from steelyard.judge.comparisons.families import Comparison, Family, scale_of
from steelyard.judge.comparisons.verdict_finding import finding
from steelyard.judge.findings import VerdictFinding
from steelyard.judge.visits.pairs import Conditions, Pair
from steelyard.judge.visits.readings import Readings
from steelyard.plan.model import Plan
from steelyard.study.model import ResponseSpec
from steelyard.study.workload_study import WorkloadStudy


def by_itself(
    study: WorkloadStudy,
    other: str,
    response: ResponseSpec,
    conditions: Conditions | None,
    *,
    readings: Readings,
) -> VerdictFinding:
    """One system against the baseline."""
    alpha, margin = study.trials.alpha, study.trials.margin_log
    comparison = Comparison(
        response=response.model_copy(update={"primary": False}),
        pair=Pair(study.baseline, other),
        conditions=conditions,
        alpha=alpha,
        share=alpha,
        family=Family(response=response.label, scope="exploratory"),
        scale=scale_of(response),
        span_s=study.trials.span_s,
    )
    return finding(judge(comparison, readings, margin), readings, margin)


def each_by_itself(
    study: WorkloadStudy,
    plan: Plan,
    response: ResponseSpec,
    conditions: Conditions | None,
    *,
    readings: Readings,
) -> Iterator[VerdictFinding]:
    """Each other system against the baseline."""
    for other in plan.systems:
        if other != study.baseline:
            yield by_itself(study, other, response, conditions, readings=readings)
