"""From the records of instances to what each cost its host, over visits."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from statistics import median

import numpy as np

from steelyard.judge.analyses.consolidation.evenness import LEVEL, mean_of
from steelyard.judge.analyses.consolidation.findings import NoGuestKernel, OneVisit
from steelyard.judge.analyses.costs.findings import (
    CoresFinding,
    CostFinding,
    CostGap,
    HostNotSampled,
    NothingSampled,
    OnHostItself,
    OverheadFinding,
)
from steelyard.judge.visits.attempts import good_by_cell, place_of
from steelyard.plan.model import Cell, Plan
from steelyard.records.schema import CostRecord, InstanceRecord, TrialRecord
from steelyard.study.workload_study import WorkloadStudy

_Told = Callable[[CostRecord], float | None]
HOST = "host"
"""A trial holds facts of it when another machine carries the system."""


def cost_findings(
    study: WorkloadStudy, plan: Plan, records: Sequence[TrialRecord]
) -> Iterator[CostFinding]:
    """Each instance of each cell, where some system of the study is carried or confined."""
    good = good_by_cell(records)
    if not any(_has_costs(each) or HOST in each.facts for own in good.values() for each in own):
        return
    for cell in plan.every_cell:
        own = good[place_of(cell)]
        numbers = sorted({each.instance for record in own for each in record.instances})
        for number in numbers:
            yield _finding(study, cell, number, own)


def _has_costs(record: TrialRecord) -> bool:
    return any(each.costs is not None for each in record.instances)


def _finding(
    study: WorkloadStudy, cell: Cell, number: int, own: Sequence[TrialRecord]
) -> CostFinding:
    costs = [each.costs for each in _instances(own, number) if each.costs is not None]
    vcpus = [cost.vcpus for cost in costs if cost.vcpus is not None]
    return CostFinding(
        cell=cell,
        instance=number,
        visits=len(costs),
        vcpus=max(vcpus, default=None),
        inside=_over(costs, lambda cost: cost.busy_inside_cores),
        outside=_over(costs, lambda cost: cost.instance_cores),
        vcpu=_over(costs, lambda cost: cost.vcpu_cores),
        wait=_over(costs, lambda cost: cost.vcpu_wait_cores),
        stolen=_over(costs, lambda cost: cost.stolen_inside_cores),
        hidden=_over(costs, _hidden),
        overhead=_overhead(costs),
        interval_level=LEVEL,
        missing=tuple(_missing(study, own, costs)),
    )


def _instances(own: Sequence[TrialRecord], number: int) -> Iterator[InstanceRecord]:
    for record in own:
        yield from (each for each in record.instances if each.instance == number)


def _over(costs: Sequence[CostRecord], told: _Told) -> CoresFinding | None:
    known = [value for cost in costs if (value := told(cost)) is not None]
    if not known:
        return None
    return CoresFinding(median=median(known), least=min(known), greatest=max(known))


def _hidden(cost: CostRecord) -> float | None:
    """Waiting that the guest did not see; a little below zero where both are noise."""
    if cost.vcpu_wait_cores is None or cost.stolen_inside_cores is None:
        return None
    return cost.vcpu_wait_cores - cost.stolen_inside_cores


def _overhead(costs: Sequence[CostRecord]) -> OverheadFinding | None:
    logs = np.array([math.log(ratio) for cost in costs if (ratio := _ratio(cost)) is not None])
    if not len(logs):
        return None
    return OverheadFinding(
        **mean_of(logs).model_dump(), least_log=float(logs.min()), greatest_log=float(logs.max())
    )


def _ratio(cost: CostRecord) -> float | None:
    """Of a guest that was idle none is reported: both sides are noise there."""
    if not cost.instance_cores or not cost.busy_inside_cores:
        return None
    return cost.instance_cores / cost.busy_inside_cores


def _missing(
    study: WorkloadStudy, own: Sequence[TrialRecord], costs: Sequence[CostRecord]
) -> Iterator[CostGap]:
    if costs:
        if all(cost.busy_inside_cores is None for cost in costs):
            yield NoGuestKernel()
        elif len(costs) == 1:
            yield OneVisit()
    elif not any(HOST in record.facts for record in own):
        yield OnHostItself()
    elif HOST not in study.sample.where:
        yield HostNotSampled()
    else:
        yield NothingSampled()
