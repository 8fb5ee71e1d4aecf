"""The checks of a study: order, drift, carry-over, changed facts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from steelyard.inference.assumptions.carry_over import carry_over
from steelyard.inference.assumptions.diagnostics import drift_per_visit
from steelyard.judge.comparisons.comparison import Judged
from steelyard.judge.kinds.checks import (
    CarryOverEffect,
    DriftPerVisit,
    FactChanged,
    FactsFollow,
    OrderDrawn,
    ScreeningOrderDrawn,
    StudyCheck,
)
from steelyard.judge.validity.confounders import varying_facts
from steelyard.plan.model import Plan
from steelyard.records.schema import TrialRecord


def study_checks(
    plan: Plan, judged: Iterable[Judged], records: Sequence[TrialRecord]
) -> Iterator[StudyCheck]:
    """``judged`` are the overall comparisons of the primary response."""
    if plan.visits:
        yield OrderDrawn(design=plan.design, seed=plan.seed)
    if plan.screen is not None:
        yield ScreeningOrderDrawn(seed=plan.seed)
    for each in judged:
        yield from _of_comparison(each)
    yield from _changed(varying_facts(records))


def _changed(facts: Mapping[str, tuple[str, ...]]) -> Iterator[StudyCheck]:
    """Each that no factor explains; of the others those of the same factors together."""
    for fact, factors in facts.items():
        if not factors:
            yield FactChanged(fact=fact)
    for factors in dict.fromkeys(filter(None, facts.values())):
        own = tuple(fact for fact, of in facts.items() if of == factors)
        yield FactsFollow(facts=own, factors=factors)


def _of_comparison(judged: Judged) -> Iterator[StudyCheck]:
    series, pair = judged.series.defined(), judged.comparison.pair
    if series.problems:
        return
    drift = drift_per_visit(series.values, series.other)
    if drift is not None:
        low, high = drift
        yield DriftPerVisit(baseline=pair.baseline, other=pair.other, low_log=low, high_log=high)
    left = carry_over(series.values, series.other, series.slots, series.before)
    if left is not None:
        yield CarryOverEffect(
            baseline=pair.baseline,
            other=pair.other,
            system=pair.other if left.in_other else pair.baseline,
            low_log=left.low_log,
            high_log=left.high_log,
        )
