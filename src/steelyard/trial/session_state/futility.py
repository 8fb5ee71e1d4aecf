"""Stopping for futility: systems and workloads that produce no valid trial are dropped.

Three rules, none of which chance fulfils easily. A system leaves when its last three visits
brought no good trial at all, retries included. It leaves when the primary response was never
once measured: in none of its trials, of six at least, or in none of the whole run, of six at least;
either way after three visits. One value in all its trials, and the second rule is silent for good.
And it leaves after one visit when it never worked, and each trial of it failed alike
(``repetition.py``): under every condition, so it is the system and not what is asked of it.

A system whose disks were found damaged leaves at once.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

from steelyard.plan.model import Plan, PlannedTrial, PlannedVisit
from steelyard.records.disk_checks import DiskCheck
from steelyard.records.events import CommonestFailure, FutilityReason
from steelyard.records.message_text import first_line, masked
from steelyard.records.missing import Reason
from steelyard.records.schema import Measured, Outcome, TrialRecord
from steelyard.study.model import ResponseSpec
from steelyard.trial.attempt.disk_checks import damaged
from steelyard.trial.session_state.progress import Progress

VISITS = 3
TRIALS = 6

PrimaryOf = Callable[[TrialRecord], ResponseSpec]
"""The primary response of the workload that a record measures."""


def futility_of(progress: Progress, plan: Plan, primary_of: PrimaryOf) -> dict[str, FutilityReason]:
    """Why each system has to be stopped, by its name; nothing of the others."""
    visits = [each for each in progress.visits_done(plan) if not progress.is_forgiven(each)]
    own = {name: [visit for visit in visits if visit.system == name] for name in plan.systems}
    of_run = _never(progress, visits, primary_of)
    reasons = {}
    for name, mine in own.items():
        if name in progress.damaged:
            reasons[name] = _damaged(progress.damaged[name])
            continue
        last = mine[-VISITS:]
        failed = last if len(last) == VISITS and _failed(progress, last) else []
        reason = of_run or _never(progress, mine, primary_of)
        if reason is None and failed:
            reason = _reason_of(progress, failed, primary_of)
        elif reason is None:
            reason = _repeated(progress, mine, primary_of)
        if reason is not None:
            numbers = tuple(visit.visit for visit in failed) or reason.failed_visits
            reasons[name] = reason.model_copy(update={"failed_visits": numbers})
    return reasons


def _damaged(record: TrialRecord) -> FutilityReason:
    said = None if record.failure is None else first_line(record.failure.message)
    return damage_reason(said, failed_visits=(record.visit,))


def damage_reason(message: str | None, failed_visits: tuple[int, ...] = ()) -> FutilityReason:
    """That damage was found, which ends a system by itself."""
    commonest = CommonestFailure(trials=1, outcome=Outcome.DAMAGED, message=message)
    return FutilityReason(trials=1, commonest=commonest, failed_visits=failed_visits)


def damage_of_kept(found: Mapping[str, Sequence[DiskCheck]]) -> dict[str, FutilityReason]:
    """Why systems that stayed up have to be stopped: their disks were found damaged."""
    failures = {name: damaged(checks) for name, checks in found.items()}
    return {
        name: damage_reason(first_line(failure.message))
        for name, failure in failures.items()
        if failure is not None
    }


def with_trials(plan: Plan) -> Plan:
    """The plan without visits that hold nothing, as those of one workload of several may."""
    visits = tuple(visit for visit in plan.visits if visit.trials)
    return plan.model_copy(update={"visits": visits})


def _failed(progress: Progress, visits: Sequence[PlannedVisit]) -> bool:
    return not any(progress.measured(trial) for visit in visits for trial in visit.trials)


def _never(
    progress: Progress, visits: Sequence[PlannedVisit], primary_of: PrimaryOf
) -> FutilityReason | None:
    """That the primary response was missing in all trials of these visits, if it was."""
    tried = _tried(progress, visits)
    if len(visits) < VISITS or len(tried) < TRIALS:
        return None
    if any(_has_value(record, primary_of(record)) for record in tried):
        return None
    labels = dict.fromkeys(primary_of(record).label for record in tried)
    reason = _reason_of(progress, visits, primary_of)
    return reason.model_copy(update={"missing_responses": tuple(labels)})


def _repeated(
    progress: Progress, visits: Sequence[PlannedVisit], primary_of: PrimaryOf
) -> FutilityReason | None:
    """That a system never worked and failed alike in every trial of a visit, if it did."""
    if not visits:
        return None
    alike = progress.repetition.of(visits[-1].system)
    failed = {record.trial for record in alike}
    whole = [visit for visit in visits if failed.issuperset(t.trial for t in visit.trials)]
    if not whole:
        return None
    update = {"failed_visits": tuple(v.visit for v in whole), "identical_attempts": len(alike)}
    return _reason_of(progress, whole, primary_of).model_copy(update=update)


def _reason_of(
    progress: Progress, visits: Sequence[PlannedVisit], primary_of: PrimaryOf
) -> FutilityReason:
    """What most of the trials of these visits report, none of which has a value."""
    tried = _tried(progress, visits)
    alike: dict[CommonestFailure, list[CommonestFailure]] = defaultdict(list)
    for reported in (_reported(record, primary_of(record)) for record in tried):
        alike[_without_numbers(reported)].append(reported)
    often = max(alike.values(), key=len)
    commonest = often[0].model_copy(update={"trials": len(often)})
    return FutilityReason(trials=len(tried), commonest=commonest)


def _without_numbers(reported: CommonestFailure) -> CommonestFailure:
    """What trials have in common that report the same with other counts, ports or folders."""
    message = None if reported.message is None else masked(reported.message)
    return reported.model_copy(update={"message": message})


def _tried(progress: Progress, visits: Sequence[PlannedVisit]) -> list[TrialRecord]:
    last = [_last(progress, trial) for visit in visits for trial in visit.trials]
    return [record for record in last if record is not None]


def _last(progress: Progress, trial: PlannedTrial) -> TrialRecord | None:
    """The attempt that a trial ended with: the good one, if there is any."""
    own = [record for record in progress.of(trial) if progress.counts(record)]
    good = [record for record in own if record.outcome is Outcome.OK]
    ends = good or own
    return ends[-1] if ends else None


def _has_value(record: TrialRecord, primary: ResponseSpec) -> bool:
    """Whether a good trial has the response; an infinite one counts as a value."""
    found = _found(record, primary)
    return found is not None and (found.value is not None or found.infinite)


def _found(record: TrialRecord, primary: ResponseSpec) -> Measured | None:
    return record.responses.get(primary.name) if record.outcome is Outcome.OK else None


def _reported(record: TrialRecord, primary: ResponseSpec) -> CommonestFailure:
    """What one trial reports."""
    if record.failure is not None:
        message = first_line(record.failure.message)
        return CommonestFailure(trials=1, outcome=record.outcome, message=message)
    found = _found(record, primary)
    missing = None if found is None else found.missing
    return CommonestFailure(trials=1, outcome=None, missing=missing or Reason(kind="not_measured"))
