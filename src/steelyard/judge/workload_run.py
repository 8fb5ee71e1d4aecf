"""A run, workload by workload: the same visits and random assignment, each with its own trials."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from steelyard.plan.model import Plan
from steelyard.records.schema import TrialRecord
from steelyard.study.each_workload import conditions_of, name_of, studies
from steelyard.study.model import WORKLOAD, Study


class WorkloadRun(NamedTuple):
    """What the judge takes: one workload, its part of the plan, its records."""

    study: Study
    plan: Plan
    records: Sequence[TrialRecord]

    @property
    def name(self) -> str:
        return name_of(self.study)


def workload_runs(
    study: Study, plan: Plan, records: Sequence[TrialRecord]
) -> tuple[WorkloadRun, ...]:
    """One for each workload that is measured, in the order of the study.

    A visit carries one random assignment for all workloads and stays the unit of inference; each
    workload has its own trials of it.
    """
    return tuple(
        WorkloadRun(own, _plan(plan, own), _records(records, own)) for own in studies(study)
    )


def _records(records: Sequence[TrialRecord], own: Study) -> Sequence[TrialRecord]:
    name = name_of(own)
    return [r for r in records if r.cell.conditions.get(WORKLOAD, name) == name]


def _plan(plan: Plan, own: Study) -> Plan:
    """The visits of the plan with the trials of one workload alone."""
    if WORKLOAD not in own.factors:
        return plan
    name = name_of(own)
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
