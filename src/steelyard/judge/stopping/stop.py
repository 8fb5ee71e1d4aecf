"""Why a run ended, from its records and its ledger alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from steelyard.judge.findings import StopFinding
from steelyard.judge.kinds.caveats import SystemFutility, WorkloadDecided, WorkloadFutility
from steelyard.plan.model import Cell, Plan, PlannedVisit
from steelyard.records.events import (
    Event,
    SystemStopped,
    WorkloadsEliminated,
    WorkloadStopped,
)
from steelyard.records.schema import Outcome, TrialRecord
from steelyard.records.sessions import last_reason, spent_ns, standing_stops


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
    """How far the run came, and what its last session ended with."""
    reason = last_reason(events)
    return StopFinding(
        reason=reason,
        visits_done=_whole_visits(plan, records, cut=reason in _CUT),
        visits_planned=len(plan.every_visit),
        trials_done=len(_good(records)),
        attempts_failed=sum(record.outcome is not Outcome.OK for record in records),
        spent_s=spent_ns(events) / 1e9,
        extended_from=plan.budget_visits,
        visits_assumed=plan.assumed_visits,
    )


_CUT = ("interrupted", "error", "open")


def _good(records: Iterable[TrialRecord]) -> set[int]:
    return {record.trial for record in records if record.outcome is Outcome.OK}


def _whole_visits(plan: Plan, records: Sequence[TrialRecord], *, cut: bool) -> int:
    """Visits of which every trial that was wanted is good.

    What a visit was begun without had been left out by then: its condition was answered, or its
    workload had ended. Only where the run was ``cut`` may the last one lack what was wanted.
    """
    good, tried = _good(records), {record.trial for record in records}
    begun = [visit for visit in plan.every_visit if tried.intersection(_trials(visit))]
    wanted = {visit.visit: tried.intersection(_trials(visit)) for visit in begun}
    if begun and cut:
        *before, last = begun
        earlier = next((v for v in reversed(before) if v.system == last.system), None)
        wanted[last.visit] = _trials(last, without=_left_out(earlier, tried))
    return sum(good.issuperset(trials) for trials in wanted.values())


def _left_out(visit: PlannedVisit | None, tried: set[int]) -> list[Cell]:
    return [] if visit is None else [t.cell for t in visit.trials if t.trial not in tried]


def _trials(visit: PlannedVisit, without: Sequence[Cell] = ()) -> set[int]:
    return {trial.trial for trial in visit.trials if trial.cell not in without}
