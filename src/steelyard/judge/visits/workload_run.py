"""A run, workload by workload: the same visits and random assignment, each with its own trials."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from steelyard.plan.model import Plan
from steelyard.study.model import Study
from steelyard.study.workload_study import WorkloadStudy, studies

if TYPE_CHECKING:  # slow to load, and a plan has no records
    from steelyard.records.schema import TrialRecord


class WorkloadRun(NamedTuple):
    """What the judge takes: one workload, its part of the plan, its records."""

    study: WorkloadStudy
    plan: Plan
    records: Sequence[TrialRecord]

    @property
    def name(self) -> str:
        return self.study.workload_name


def workload_runs(
    study: Study, plan: Plan, records: Sequence[TrialRecord]
) -> tuple[WorkloadRun, ...]:
    """One for each workload that is measured, in the order of the study.

    A visit carries one random assignment for all workloads and stays the unit of inference; each
    workload has its own trials of it.
    """
    return tuple(
        WorkloadRun(own, _plan(plan, own), [r for r in records if own.measures(r.cell.conditions)])
        for own in studies(study)
    )


def _plan(plan: Plan, own: WorkloadStudy) -> Plan:
    """The visits of the plan with the trials of one workload alone."""
    visits = (
        visit.model_copy(
            update={"trials": tuple(t for t in visit.trials if own.measures(t.cell.conditions))}
        )
        for visit in plan.visits
    )
    return plan.model_copy(
        update={
            "conditions": tuple(c for c in plan.conditions if own.measures(c)),
            "visits": tuple(visits),
            "not_applicable": tuple(c for c in plan.not_applicable if own.measures(c.conditions)),
            "searches": tuple(s for s in plan.searches if own.measures(s)),
        }
    )
