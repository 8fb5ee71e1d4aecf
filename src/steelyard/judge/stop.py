"""Why a run ended, from its records and its ledger alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, cast, get_args

from steelyard.judge.findings import StopFinding
from steelyard.plan.model import Plan
from steelyard.records.ledger import Event
from steelyard.records.schema import Outcome, TrialRecord
from steelyard.records.sessions import last_reason, spent_ns

Reason = Literal["decided", "budget_visits", "budget_time", "interrupted", "failures", "running"]


GIVEN_UP = "system_given_up"
"""The event of the ledger that says which system left because nothing came of it."""


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
    reason = last_reason(events)
    return StopFinding(
        reason=cast("Reason", reason) if reason in get_args(Reason) else "running",
        visits_done=sum(all(t.trial in good for t in visit.trials) for visit in plan.every_visit),
        visits_planned=len(plan.every_visit),
        trials_done=len(good),
        attempts_failed=sum(record.outcome is not Outcome.OK for record in records),
        spent_s=spent_ns(events) / 1e9,
    )
