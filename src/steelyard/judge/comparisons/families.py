"""Which comparisons a study asks for, and how they share its error rate.

The overall verdict on the primary response has the whole rate. The verdicts at its conditions
share one more, in equal parts (Bonferroni). Several systems share each with all comparisons that
are made: to the baseline, or of all pairs. Other responses are exploratory: each is judged by
itself and stops nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

from steelyard.judge.visits.pairs import Conditions, Pair, Scale, met_by_both
from steelyard.plan.model import Frozen, Plan
from steelyard.study.model import GuardrailSpec, ResponseSpec
from steelyard.study.workload_study import WorkloadStudy


class Family(Frozen):
    """The comparisons of one response (its label) that share an error rate.

    ``scope`` is all conditions together (``overall``), each of ``places`` conditions, of means of
    the report's sections or of machines, the A/A control of ``baseline``, the pairs that the study
    does not compare (``not_compared``), or one comparison by itself (``exploratory``).
    ``pairs`` counts the compared pairs: each with ``baseline``, or each with each where it is
    ``None``.
    """

    response: str
    scope: Literal[
        "overall",
        "conditions",
        "section_means",
        "machines",
        "aa_control",
        "not_compared",
        "exploratory",
    ]
    places: int = 1
    pairs: int = 1
    baseline: str | None = None


@dataclass(frozen=True)
class Comparison:
    """One verdict to be given. ``conditions`` is ``None`` for all of them together.

    ``alpha`` is the rate of the family, ``share`` what this comparison may spend of it.
    ``guardrails`` must hold for the winner before it is called faster. ``scale``: what a
    number of the response becomes. ``span_s``: the least time within which its visits lie.
    """

    response: ResponseSpec
    pair: Pair
    conditions: Conditions | None
    alpha: float
    share: float
    family: Family
    guardrails: tuple[GuardrailSpec, ...] = ()
    scale: Scale = "log"
    span_s: float | None = None

    @property
    def exploratory(self) -> bool:
        return not self.response.primary


def comparisons(study: WorkloadStudy, plan: Plan) -> Iterator[Comparison]:
    """Every comparison of the study, the primary response first, overall before conditions."""
    for response in sorted(study.responses.values(), key=lambda spec: not spec.primary):
        yield from of_response(study, plan, response)


def of_response(study: WorkloadStudy, plan: Plan, response: ResponseSpec) -> Iterator[Comparison]:
    """The comparisons of one response, pair by pair."""
    met = {pair: _met(plan, pair) for pair in pairs(study, plan)}
    return shared(
        response,
        met,
        study.trials.alpha,
        against=None if study.judge.contrasts == "all pairs" else study.baseline,
        guardrails=tuple(study.guardrails.values()) if response.primary else (),
        scale=scale_of(response),
        span_s=study.trials.span_s,
    )


def shared(
    response: ResponseSpec,
    met: Mapping[Pair, Sequence[Conditions]],
    alpha: float,
    *,
    against: str | None,
    guardrails: tuple[GuardrailSpec, ...] = (),
    scale: Scale = "log",
    span_s: float | None = None,
) -> Iterator[Comparison]:
    """Each pair overall and at each of its conditions, with its share of the error rate.

    ``met``: the conditions that both systems of each pair can meet. ``against``: the baseline of
    all pairs, ``None`` if each is compared with each.
    """
    met = {pair: conditions for pair, conditions in met.items() if conditions}
    everywhere = sum(map(len, met.values()))
    for pair, own in met.items():
        for conditions in _places(own):
            members = len(met) if conditions is None else everywhere
            family = Family(
                response=response.label,
                scope="overall" if conditions is None else "conditions",
                places=1 if conditions is None else len(own),
                pairs=len(met),
                baseline=against,
            )
            if not response.primary:
                family = Family(response=response.label, scope="exploratory")
            yield Comparison(
                response=response,
                pair=pair,
                conditions=conditions,
                alpha=alpha,
                share=alpha / members if response.primary else alpha,
                family=family,
                guardrails=guardrails,
                scale=scale,
                span_s=span_s,
            )


def scale_of(response: ResponseSpec) -> Scale:
    """What a number of a response becomes: failures are judged by their odds."""
    return "odds" if response.name == "errors" else "log"


def pairs(study: WorkloadStudy, plan: Plan) -> list[Pair]:
    """The compared pairs: every system with the baseline, or each with each.

    The first of a pair stands earlier in the study, the baseline before all.
    """
    systems = contestants(study, plan)
    if study.judge.contrasts == "all pairs":
        return [Pair(one, another) for one, another in combinations(systems, 2)]
    return [Pair(study.baseline, each) for each in systems if each != study.baseline]


def contestants(study: WorkloadStudy, plan: Plan) -> list[str]:
    """All that is compared, the baseline first; not the baseline measured again."""
    return [each for each in plan.systems if each != study.trials.aa_control]


def not_compared(study: WorkloadStudy, plan: Plan) -> list[Comparison]:
    """The pairs that the study does not compare, over all conditions: a family of the ranking."""
    compared = pairs(study, plan)
    members = combinations(contestants(study, plan), 2)
    rest = [pair for one in members if (pair := Pair(*one)) not in compared]
    alpha = study.trials.alpha
    family = Family(response=study.primary.label, scope="not_compared", pairs=len(rest))
    span_s = study.trials.span_s
    return [
        Comparison(study.primary, pair, None, alpha, alpha / len(rest), family, span_s=span_s)
        for pair in rest
    ]


def deciding(study: WorkloadStudy, plan: Plan) -> list[Comparison]:
    """The comparisons that must be decided before a study may stop."""
    of_primary = of_response(study, plan, study.primary)
    if study.trials.until == "overall":
        return [each for each in of_primary if each.conditions is None]
    return list(of_primary)


def _met(plan: Plan, pair: Pair) -> list[Conditions]:
    """The conditions that both systems of a pair can meet."""
    return [each for each in plan.conditions if met_by_both(plan, pair, each)]


def _places(met: Sequence[Conditions]) -> list[Conditions | None]:
    """Overall and each condition; overall alone when there is one condition."""
    return [None, *met] if len(met) > 1 else [None]
