"""Why a run ended, from its records and its ledger alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, cast, get_args

from steelyard.judge.findings import StopFinding
from steelyard.plan.model import Plan, PlannedTrial, PlannedVisit
from steelyard.records.ledger import Event
from steelyard.records.schema import Outcome, TrialRecord
from steelyard.records.sessions import last_reason, spent_ns
from steelyard.study.model import WORKLOAD

Reason = Literal["decided", "budget_visits", "budget_time", "interrupted", "failures", "running"]


GIVEN_UP = "system_given_up"
"""The event of the ledger that says which system left because nothing came of it."""


WORKLOADS_LEFT = "workloads_left"
"""The event that says on which systems each workload is measured from a block on."""


WORKLOAD_GIVEN_UP = "workload_given_up"
"""The event that says of which workload of several nothing comes, and on which systems."""


def left_words(workload: str, plan: Plan, events: Sequence[Event]) -> Iterator[str]:
    """A sentence on a workload of several that left: all was decided, or nothing came of it."""
    lost = [e for e in events if e["event"] == WORKLOAD_GIVEN_UP and e["workload"] == workload]
    for event in {tuple(event["gone"]): event for event in reversed(lost)}.values():
        yield f"{why_workload_left(event)} The other workloads went on without it."
    if lost:
        return
    gone = [
        event["block"]
        for event in events
        if event["event"] == WORKLOADS_LEFT and not event["measured"].get(workload)
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
    left = {e["system"]: e for e in events if e["event"] == GIVEN_UP}
    whole = last_reason(events) == "failures"
    for system, event in left.items():
        went_on = "" if whole else "; the other systems went on without it"
        yield f"{why_left(system, event)} What compares it was not continued{went_on}."


def why_workload_left(event: Mapping[str, Any]) -> str:
    """Why a workload of several left, on all systems or some: the ledger's words as sentences."""
    workload, reasons = event["workload"], event["systems"]
    first, *others = reasons.values()
    if len(reasons) > 1 and all(other == first for other in others):
        return why_left(workload, first)
    said = [why_left(f"{workload} on {system}", reason) for system, reason in reasons.items()]
    whole = (
        ""
        if set(event["gone"]) <= set(reasons)
        else (
            f" Nothing of {workload} can be compared without that, so it was not measured on "
            "the other systems either."
        )
    )
    return " ".join(said) + whole


def why_left(system: str, event: Mapping[str, Any]) -> str:
    """Why a system left: what the ledger says of it, as a sentence."""
    why = _why(event)
    if "missing" in event:
        primary, trials = " or ".join(event["missing"]), event["trials"]
        return (
            f"{system} left the study: the primary response {primary} was missing in {trials} of "
            f"{trials} trials{why}."
        )
    *others, last = map(str, event["visits"])
    told = f"visits {', '.join(others)} and {last}" if others else f"visit {last}"
    return f"{system} left the study: {told} of it brought no good trial{why}."


def _why(event: Mapping[str, Any]) -> str:
    """What most of the trials say; ledgers of earlier versions do not tell."""
    if "why" not in event:
        return ""
    often, trials = event["so_often"], event["trials"]
    return f": {'' if often == trials else f'in {often} of {trials} '}{event['why'].rstrip('.')}"


def find_stop(plan: Plan, records: Sequence[TrialRecord], events: Sequence[Event]) -> StopFinding:
    """How far the run came. A sitting without an end (killed, or going on) is ``running``."""
    good = {record.trial for record in records if record.outcome is Outcome.OK}
    left = [event for event in events if event["event"] == WORKLOADS_LEFT]
    lost = [event for event in events if event["event"] == WORKLOAD_GIVEN_UP]
    wanted = ([t.trial for t in _wanted(visit, left, lost)] for visit in plan.every_visit)
    reason = last_reason(events)
    return StopFinding(
        reason=cast("Reason", reason) if reason in get_args(Reason) else "running",
        visits_done=sum(bool(trials) and good.issuperset(trials) for trials in wanted),
        visits_planned=len(plan.every_visit),
        trials_done=len(good),
        attempts_failed=sum(record.outcome is not Outcome.OK for record in records),
        spent_s=spent_ns(events) / 1e9,
        extended_from=plan.budget_visits,
    )


def _wanted(
    visit: PlannedVisit, left: Sequence[Event], lost: Sequence[Event]
) -> Iterator[PlannedTrial]:
    """The trials of a visit without those of workloads that had left by then."""
    gone = {(e["workload"], each) for e in lost if e["visit"] < visit.visit for each in e["gone"]}
    known = [event["measured"] for event in left if event["block"] <= visit.block]
    for trial in visit.trials:
        name = str(trial.cell.conditions.get(WORKLOAD))
        if (name, trial.cell.system) in gone:
            continue
        if not known or trial.cell.system in known[-1].get(name, [trial.cell.system]):
            yield trial
