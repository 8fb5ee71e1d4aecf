"""Why a run ended, from its records and its ledger alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, cast, get_args

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


def left_words(workload: str, plan: Plan, events: Sequence[Event]) -> Iterator[str]:
    """A sentence on a workload of several that left because all was decided."""
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
    """One sentence for each system that left because it failed, not because it was decided."""
    visits = {e["system"]: e["visits"] for e in events if e["event"] == GIVEN_UP}
    for system, failed in visits.items():
        *others, last = map(str, failed)
        told = f"visits {', '.join(others)} and {last}" if others else f"visit {last}"
        yield (
            f"{system} left the study: {told} of it brought no good trial. What compares it was "
            "not continued; the other systems went on without it."
        )


def find_stop(plan: Plan, records: Sequence[TrialRecord], events: Sequence[Event]) -> StopFinding:
    """How far the run came. A sitting without an end (killed, or going on) is ``running``."""
    good = {record.trial for record in records if record.outcome is Outcome.OK}
    left = [event for event in events if event["event"] == WORKLOADS_LEFT]
    wanted = ([t.trial for t in _wanted(visit, left)] for visit in plan.every_visit)
    reason = last_reason(events)
    return StopFinding(
        reason=cast("Reason", reason) if reason in get_args(Reason) else "running",
        visits_done=sum(bool(trials) and good.issuperset(trials) for trials in wanted),
        visits_planned=len(plan.every_visit),
        trials_done=len(good),
        attempts_failed=sum(record.outcome is not Outcome.OK for record in records),
        spent_s=spent_ns(events) / 1e9,
    )


def _wanted(visit: PlannedVisit, left: Sequence[Event]) -> Iterator[PlannedTrial]:
    """The trials of a visit without those of workloads that had left by then."""
    known = [event["measured"] for event in left if event["block"] <= visit.block]
    for trial in visit.trials:
        name = str(trial.cell.conditions.get(WORKLOAD))
        if not known or trial.cell.system in known[-1].get(name, [trial.cell.system]):
            yield trial
