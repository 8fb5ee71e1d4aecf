"""Where a run stands follows from its records alone."""

from __future__ import annotations

import pytest

from steelyard.engine.messages import OTHER_VERSION
from steelyard.errors import EngineError
from steelyard.plan.model import Cell, Forecast, Plan, PlannedTrial, PlannedVisit
from steelyard.records.events import AttemptFinished, AttemptStarted, Event, SessionOpened
from steelyard.records.schema import Outcome, TrialRecord
from steelyard.trial.attempt.outcomes import (
    RETRY_HELPS,
    TrialFailed,
    as_failed,
    not_by_the_user,
    what_ends_the_session,
)
from steelyard.trial.session_state.progress import Progress, torn_attempts

FORECAST = Forecast(trial_s=1, visit_s=1, total_s=1, earliest_verdict_s=1, disk_bytes=1)


def cell(system: str) -> Cell:
    return Cell(system=system, conditions={"load.users": 1})


def plan(systems: str) -> Plan:
    visits = tuple(
        PlannedVisit(
            visit=number,
            block=number,
            system=system,
            trials=(PlannedTrial(trial=number, visit=number, cell=cell(system)),),
        )
        for number, system in enumerate(systems, start=1)
    )
    return Plan(
        seed=1,
        study_sha256="0",
        design="big_stick",
        systems=("a", "b"),
        conditions=({"load.users": 1},),
        assignment=tuple(systems),
        visits=visits,
        forecast=FORECAST,
    )


def record(trial: int, outcome: Outcome, attempt: int = 1, system: str = "a") -> TrialRecord:
    return TrialRecord(
        trial=trial,
        attempt=attempt,
        visit=trial,
        cell=cell(system),
        outcome=outcome,
        started_unix_ns=0,
        finished_unix_ns=0,
        phases_ns={},
        responses={},
        facts={},
    )


def first(planned: Plan) -> PlannedTrial:
    return planned.visits[0].trials[0]


def test_a_trial_without_records_is_to_be_done() -> None:
    progress = Progress(retry=3)
    assert not progress.finished(first(plan("ab")))
    assert progress.next_attempt(first(plan("ab"))) == 1


def test_a_good_attempt_finishes_a_trial() -> None:
    assert Progress(3, [record(1, Outcome.OK)]).finished(first(plan("ab")))


def test_a_failure_that_may_pass_is_tried_again_until_the_retries_are_used_up() -> None:
    tries = [record(1, Outcome.SERVICE_DIED, attempt) for attempt in (1, 2, 3, 4)]
    assert not Progress(3, tries[:3]).finished(first(plan("ab")))
    assert Progress(3, tries).given_up(first(plan("ab")))


def test_a_failure_that_will_not_pass_is_not_tried_again() -> None:
    assert Progress(3, [record(1, Outcome.PERMISSION_DENIED)]).given_up(first(plan("ab")))


def test_what_ended_from_outside_uses_up_no_retry() -> None:
    outside = [record(1, Outcome.CONTROLLER_LOST, n) for n in range(1, 9)]
    outside.append(record(1, Outcome.INTERRUPTED, 9))
    progress = Progress(0, outside)
    assert not progress.finished(first(plan("ab")))
    assert progress.next_attempt(first(plan("ab"))) == 10


@pytest.mark.parametrize("outcome", [Outcome.DISK_FULL, Outcome.NEEDS_OPERATOR])
def test_what_somebody_had_to_fix_is_attempted_again(outcome: Outcome) -> None:
    assert not Progress(0, [record(1, outcome)]).finished(first(plan("ab")))


def test_a_full_disk_ends_the_session_and_any_other_failure_of_a_trial_does_not() -> None:
    full = TrialFailed(Outcome.DISK_FULL, "2 MiB are free", "make room")
    ends = what_ends_the_session(full, full)
    assert ends is not None
    assert ends.exit_code == 3
    died = TrialFailed(Outcome.SERVICE_DIED, "it died")
    assert what_ends_the_session(died, died) is None


def test_an_agent_of_another_version_ends_the_session_and_a_lost_one_is_tried_again() -> None:
    other = EngineError("0.0.7", hint="install it", slug=OTHER_VERSION)
    failed = as_failed(other)
    ends = what_ends_the_session(other, failed)
    assert (failed.outcome, ends and ends.slug) == (Outcome.NEEDS_OPERATOR, OTHER_VERSION)
    lost = EngineError("gone", hint="look", slug="agent-is-lost")
    assert as_failed(lost).outcome in RETRY_HELPS
    assert what_ends_the_session(lost, as_failed(lost)) is None


def test_what_was_cancelled_while_no_one_asked_uses_up_retries() -> None:
    cancelled = TrialFailed(Outcome.INTERRUPTED, "cancelled before the window began")
    outcome = not_by_the_user(cancelled).outcome
    assert outcome in RETRY_HELPS
    tries = [record(1, outcome, attempt) for attempt in (1, 2)]
    assert Progress(1, tries).given_up(first(plan("ab")))


def test_an_attempt_that_started_and_left_no_record_is_torn() -> None:
    events: list[Event] = [
        SessionOpened(),
        AttemptStarted(trial=1, attempt=1),
        AttemptFinished(trial=1, attempt=1, outcome=Outcome.OK),
        AttemptStarted(trial=2, attempt=1),
    ]
    assert torn_attempts(events, [record(1, Outcome.OK)]) == [events[3]]
