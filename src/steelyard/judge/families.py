"""Which comparisons a study asks for, and how they share its error rate.

The overall verdict on the primary response has the whole rate. The verdicts at its conditions
share one more, in equal parts (Bonferroni). Several systems share each with all comparisons to
the baseline. Other responses are exploratory: each is judged by itself and stops nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from steelyard.judge.paths import EXPLORATORY_PATHS, PATHS
from steelyard.judge.streams import Conditions, Pair
from steelyard.plan.model import Plan
from steelyard.study.model import ResponseSpec, Study


@dataclass(frozen=True)
class Comparison:
    """One verdict to be given. ``conditions`` is ``None`` for all of them together.

    ``alpha`` is the rate of the family, ``share`` what this comparison may spend of it.
    """

    response: ResponseSpec
    pair: Pair
    conditions: Conditions | None
    alpha: float
    share: float
    family: str

    @property
    def exploratory(self) -> bool:
        return not self.response.primary

    @property
    def paths(self) -> int:
        """How many simulated sequences: fewer are as valid, and enough to explore."""
        return PATHS if self.response.primary else EXPLORATORY_PATHS


def comparisons(study: Study, plan: Plan) -> Iterator[Comparison]:
    """Every comparison of the study, the primary response first, overall before conditions."""
    for response in sorted(study.responses.values(), key=lambda spec: not spec.primary):
        yield from of_response(study, plan, response)


def of_response(study: Study, plan: Plan, response: ResponseSpec) -> Iterator[Comparison]:
    """The comparisons of one response, system by system."""
    others = [system for system in plan.systems if system != study.baseline]
    for other in others:
        for conditions in _places(plan):
            members = len(others) * (1 if conditions is None else len(plan.conditions))
            alpha = study.trials.alpha
            yield Comparison(
                response=response,
                pair=Pair(study.baseline, other),
                conditions=conditions,
                alpha=alpha,
                share=alpha / members if response.primary else alpha,
                family=_family(response, study.baseline, len(others), conditions, plan),
            )


def deciding(study: Study, plan: Plan) -> list[Comparison]:
    """The comparisons that must be decided before a study may stop."""
    of_primary = of_response(study, plan, study.primary)
    if study.trials.until == "overall":
        return [each for each in of_primary if each.conditions is None]
    return list(of_primary)


def _places(plan: Plan) -> list[Conditions | None]:
    """Overall and each condition; overall alone when there is one condition."""
    return [None, *plan.conditions] if len(plan.conditions) > 1 else [None]


def _family(
    response: ResponseSpec, baseline: str, others: int, conditions: Conditions | None, plan: Plan
) -> str:
    if not response.primary:
        return f"{response.label}, exploratory: each comparison by itself"
    place = "overall" if conditions is None else f"each of {len(plan.conditions)} conditions"
    systems = f", each of {others} systems against {baseline}" if others > 1 else ""
    return f"{response.label}, {place}{systems}"
