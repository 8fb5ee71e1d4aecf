"""Systems of which nothing comes: they leave a run, so that it does not go on in vain.

Two rules, neither of which chance fulfils easily. A system leaves when its last three visits
brought no good trial at all, retries included. And it leaves when the primary response was never
once measured: in none of its trials, of six at least, or in none of the whole run, of six at least;
either way after three visits. One value in all its trials, and the second rule is silent for good.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from steelyard.plan.model import Plan, PlannedVisit
from steelyard.records.schema import Measured, Outcome, TrialRecord
from steelyard.study.model import ResponseSpec
from steelyard.trial.attempt.outcomes import NOT_AN_ATTEMPT
from steelyard.trial.session_state.progress import Standing

VISITS = 3
TRIALS = 6

PrimaryOf = Callable[[TrialRecord], ResponseSpec]
"""The primary response of the workload that a record measures."""


def in_vain(standing: Standing, plan: Plan, primary_of: PrimaryOf) -> dict[str, dict[str, Any]]:
    """What the ledger says of each system that has to leave, by its name."""
    visits = standing.visits_done(plan)
    own = {name: [visit for visit in visits if visit.system == name] for name in plan.systems}
    left = {
        name: {"visits": [visit.visit for visit in last], **_why(standing, last, primary_of)}
        for name, mine in own.items()
        if len(last := mine[-VISITS:]) == VISITS and _failed(standing, last)
    }
    never = _never(standing, visits, primary_of)
    if never:
        return {name: left.get(name, {}) | never for name in plan.systems}
    for name, mine in own.items():
        never = _never(standing, mine, primary_of)
        if never:
            left[name] = left.get(name, {}) | never
    return left


def with_trials(plan: Plan) -> Plan:
    """The plan without visits that hold nothing, as those of one workload of several may."""
    visits = tuple(visit for visit in plan.visits if visit.trials)
    return plan.model_copy(update={"visits": visits})


def _failed(standing: Standing, visits: Sequence[PlannedVisit]) -> bool:
    return not any(standing.measured(trial) for visit in visits for trial in visit.trials)


def _never(
    standing: Standing, visits: Sequence[PlannedVisit], primary_of: PrimaryOf
) -> dict[str, Any]:
    """That the primary response was missing in all trials of these visits, and why; or nothing."""
    tried = _tried(standing, visits)
    if len(visits) < VISITS or len(tried) < TRIALS:
        return {}
    if any(_told(record, primary_of(record)) for record in tried):
        return {}
    labels = list(dict.fromkeys(primary_of(record).label for record in tried))
    return {"missing": labels, **_why(standing, visits, primary_of)}


def _why(
    standing: Standing, visits: Sequence[PlannedVisit], primary_of: PrimaryOf
) -> dict[str, Any]:
    """The reason that most of these trials give, none of which has a value."""
    tried = _tried(standing, visits)
    reasons = Counter(_reason(record, primary_of(record)) for record in tried)
    why, count = reasons.most_common(1)[0]
    return {"trials": len(tried), "why": why, "so_often": count}


def _tried(standing: Standing, visits: Sequence[PlannedVisit]) -> list[TrialRecord]:
    last = [_last(standing.of(trial)) for visit in visits for trial in visit.trials]
    return [record for record in last if record is not None]


def _last(records: Sequence[TrialRecord]) -> TrialRecord | None:
    """The attempt that a trial ended with: the good one, if there is any."""
    own = [record for record in records if record.outcome not in NOT_AN_ATTEMPT]
    good = [record for record in own if record.outcome is Outcome.OK]
    ends = good or own
    return ends[-1] if ends else None


def _told(record: TrialRecord, primary: ResponseSpec) -> bool:
    """Whether a good trial has the response; one beyond all others is told, too."""
    found = _found(record, primary)
    return found is not None and (found.value is not None or found.infinite)


def _found(record: TrialRecord, primary: ResponseSpec) -> Measured | None:
    return record.responses.get(primary.name) if record.outcome is Outcome.OK else None


def _reason(record: TrialRecord, primary: ResponseSpec) -> str:
    if record.failure is not None:
        message = record.failure.message.strip().partition("\n")[0]
        return f"{record.outcome.replace('_', ' ')}: {message}"
    found = _found(record, primary)
    return (found.missing if found is not None else None) or "it was not measured"
