"""Why a run ended, from its records and its ledger alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from steelyard.judge.findings import StopFinding
from steelyard.plan.model import Plan, PlannedTrial, PlannedVisit
from steelyard.records.events import (
    Event,
    FutilityReason,
    SystemStopped,
    WorkloadsEliminated,
    WorkloadStopped,
)
from steelyard.records.schema import Outcome, TrialRecord
from steelyard.records.sessions import last_reason, spent_ns
from steelyard.study.model import WORKLOAD


def left_words(workload: str, plan: Plan, events: Sequence[Event]) -> Iterator[str]:
    """A sentence on a workload of several that left: all was decided, or nothing came of it."""
    stopped = [e for e in events if isinstance(e, WorkloadStopped) and e.workload == workload]
    for event in {event.stopped_on: event for event in reversed(stopped)}.values():
        yield f"{why_workload_left(event)} The other workloads went on without it."
    if stopped:
        return
    gone = [
        event.block
        for event in events
        if isinstance(event, WorkloadsEliminated) and not event.remaining.get(workload)
    ]
    last = max((v.visit for v in plan.visits if gone and v.block < min(gone)), default=None)
    if last is not None:
        yield (
            f"measured until visit {last}, when all that is asked of it was decided. Later visits "
            "went without its trials, so what these may leave behind for other workloads (heat, "
            "caches, a disk that still writes) was gone from there on: what is said of the others "
            "assumes that a reset leaves nothing of it."
        )


def given_up_words(events: Sequence[Event]) -> Iterator[str]:
    """What made systems leave because nothing came of them, not because they were decided."""
    left = {e.system: e.reason for e in events if isinstance(e, SystemStopped)}
    whole = last_reason(events) == "failures"
    for system, reason in left.items():
        went_on = "" if whole else "; the other systems went on without it"
        yield f"{why_left(system, reason)} What compares it was not continued{went_on}."


def why_workload_left(event: WorkloadStopped) -> str:
    """Why a workload of several left, on all systems or some: the ledger's words as sentences."""
    workload, reasons = event.workload, event.reasons
    first, *others = reasons.values()
    if len(reasons) > 1 and all(other == first for other in others):
        return why_left(workload, first)
    said = [why_left(f"{workload} on {system}", reason) for system, reason in reasons.items()]
    whole = (
        ""
        if set(event.stopped_on) <= set(reasons)
        else (
            f" Nothing of {workload} can be compared without that, so it was not measured on "
            "the other systems either."
        )
    )
    return " ".join(said) + whole


def why_left(system: str, reason: FutilityReason) -> str:
    """Why a system left: what the ledger says of it, as a sentence."""
    why = _why(reason)
    if reason.missing_responses:
        primary, trials = " or ".join(reason.missing_responses), reason.trials
        return (
            f"{system} left the study: the primary response {primary} was missing in {trials} of "
            f"{trials} trials{why}."
        )
    *others, last = map(str, reason.failed_visits)
    told = f"visits {', '.join(others)} and {last}" if others else f"visit {last}"
    return f"{system} left the study: {told} of it brought no good trial{why}."


def _why(reason: FutilityReason) -> str:
    """What most of the trials report."""
    often, outcome = reason.commonest.trials, reason.commonest.outcome
    most = "" if often == reason.trials else f"in {often} of {reason.trials} "
    failed = "" if outcome is None else f"{outcome.replace('_', ' ')}: "
    return f": {most}{failed}{reason.commonest.message.rstrip('.')}"


def find_stop(plan: Plan, records: Sequence[TrialRecord], events: Sequence[Event]) -> StopFinding:
    """How far the run came. A sitting without an end (killed, or going on) is ``running``."""
    good = {record.trial for record in records if record.outcome is Outcome.OK}
    left = [event for event in events if isinstance(event, WorkloadsEliminated)]
    lost = [event for event in events if isinstance(event, WorkloadStopped)]
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
