"""A run of several workloads as a run of each: the same visits and coin, its own trials.

Whatever is judged of a study is judged of each of these, by the same functions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from steelyard.plan.model import Plan
from steelyard.records.schema import TrialRecord
from steelyard.study.each_workload import conditions_of, name_of, studies
from steelyard.study.model import WORKLOAD, Study


class OfOne(NamedTuple):
    """What the judge takes, of one workload."""

    study: Study
    plan: Plan
    records: Sequence[TrialRecord]


def several(study: Study) -> bool:
    """Whether a study must be taken apart before it is judged."""
    return len(study.workloads) > 1


def apart(study: Study, plan: Plan, records: Sequence[TrialRecord]) -> Iterator[OfOne]:
    """One run for each workload that is measured, in the order of the study.

    Its visits are those of the whole, with the trials of the workload alone: a visit carries one
    coin for all workloads, and stays the unit.
    """
    if not several(study):
        yield OfOne(study, plan, records)
        return
    for own in studies(study):
        name = name_of(own)
        yield OfOne(
            own,
            _plan(plan, own, name),
            [r for r in records if r.cell.conditions.get(WORKLOAD) == name],
        )


def _plan(plan: Plan, own: Study, name: str) -> Plan:
    visits = (
        visit.model_copy(
            update={
                "trials": tuple(t for t in visit.trials if t.cell.conditions.get(WORKLOAD) == name)
            }
        )
        for visit in plan.visits
    )
    missing = (c for c in plan.not_applicable if c.conditions.get(WORKLOAD) == name)
    return plan.model_copy(
        update={
            "conditions": conditions_of(own),
            "visits": tuple(visits),
            "not_applicable": tuple(missing),
            "searches": tuple(s for s in plan.searches if s.get(WORKLOAD) == name),
        }
    )
