"""Why a run ended, from its records and its ledger alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from steelyard.judge.findings import StopFinding
from steelyard.judge.kinds.caveats import SystemFutility, WorkloadDecided, WorkloadFutility
from steelyard.plan.model import Plan, PlannedTrial, PlannedVisit
from steelyard.records.events import (
    Event,
    SystemStopped,
    WorkloadsEliminated,
    WorkloadStopped,
)
from steelyard.records.schema import Outcome, TrialRecord
from steelyard.records.sessions import last_reason, spent_ns, standing_stops
from steelyard.study.model import WORKLOAD


def workload_caveats(
    workload: str, plan: Plan, events: Sequence[Event]
) -> Iterator[WorkloadFutility | WorkloadDecided]:
    """Why a workload of several was no longer measured: futility, or all was decided."""
    stopped = [each for each in _workloads_stopped(events) if each.workload == workload]
    for event in {event.stopped_on: event for event in reversed(stopped)}.values():
        yield workload_futility(event).model_copy(update={"others_continued": True})
    if stopped:
        return
    gone = [
        event.block
        for event in events
        if isinstance(event, WorkloadsEliminated) and not event.remaining.get(workload)
    ]
    last = max((v.visit for v in plan.visits if gone and v.block < min(gone)), default=None)
    if last is not None:
        yield WorkloadDecided(last_visit=last)


def futility_caveats(events: Sequence[Event]) -> Iterator[SystemFutility]:
    """The systems that were stopped for futility, not because all was decided."""
    others_continued = last_reason(events) != "failures"
    for system, reason in {
        e.system: e.reason for e in standing_stops(events) if isinstance(e, SystemStopped)
    }.items():
        yield SystemFutility(system=system, reason=reason, others_continued=others_continued)


def _workloads_stopped(events: Sequence[Event]) -> list[WorkloadStopped]:
    return [each for each in standing_stops(events) if isinstance(each, WorkloadStopped)]


def workload_futility(event: WorkloadStopped) -> WorkloadFutility:
    """Why a workload of several was stopped for futility, by the event of the ledger."""
    return WorkloadFutility(
        workload=event.workload,
        reasons=event.reasons,
        on_all_systems=not set(event.stopped_on) <= set(event.reasons),
    )


def find_stop(plan: Plan, records: Sequence[TrialRecord], events: Sequence[Event]) -> StopFinding:
    """How far the run came. A sitting without an end (killed, or going on) is ``running``."""
    good = {record.trial for record in records if record.outcome is Outcome.OK}
    left = [event for event in events if isinstance(event, WorkloadsEliminated)]
    lost = _workloads_stopped(events)
    wanted = ([t.trial for t in _wanted(visit, left, lost)] for visit in plan.every_visit)
    return StopFinding(
        reason=last_reason(events) or "running",
        visits_done=sum(bool(trials) and good.issuperset(trials) for trials in wanted),
        visits_planned=len(plan.every_visit),
        trials_done=len(good),
        attempts_failed=sum(record.outcome is not Outcome.OK for record in records),
        spent_s=spent_ns(events) / 1e9,
        extended_from=plan.budget_visits,
    )


def _wanted(
    visit: PlannedVisit, left: Sequence[WorkloadsEliminated], lost: Sequence[WorkloadStopped]
) -> Iterator[PlannedTrial]:
    """The trials of a visit without those of workloads that had left by then."""
    gone = {(e.workload, each) for e in lost if e.visit < visit.visit for each in e.stopped_on}
    known = [event.remaining for event in left if event.block <= visit.block]
    for trial in visit.trials:
        name = str(trial.cell.conditions.get(WORKLOAD))
        if (name, trial.cell.system) in gone:
            continue
        if not known or trial.cell.system in known[-1].get(name, [trial.cell.system]):
            yield trial
