"""Why a run ended follows from its ledger."""

from __future__ import annotations

import pytest
from tests.unit.trial.test_state import FORECAST, plan, record

from steelyard.judge.stopping.stop import find_stop
from steelyard.plan.model import Cell, Plan, PlannedTrial, PlannedVisit
from steelyard.records.events import Event, SessionClosed, SessionEnd, SessionOpened
from steelyard.records.schema import Outcome, TrialRecord

OPENED = SessionOpened(at_unix_ns=0)


def closed(reason: SessionEnd | None) -> SessionClosed:
    return SessionClosed(at_unix_ns=5_000_000_000, reason=reason)


@pytest.fixture
def planned() -> Plan:
    return plan("abab")


def test_a_run_counts_good_trials_whole_visits_and_failed_attempts(planned: Plan) -> None:
    records = [record(1, Outcome.OK), record(2, Outcome.SERVICE_DIED), record(2, Outcome.OK, 2)]
    stop = find_stop(planned, records, [OPENED, closed("decided")])
    assert (stop.visits_done, stop.visits_planned, stop.trials_done) == (2, 4, 2)
    assert (stop.attempts_failed, stop.spent_s, stop.reason) == (1, 5.0, "decided")


@pytest.mark.parametrize(
    ("events", "reason"),
    [([], "open"), ([OPENED], "open"), ([OPENED, closed(None)], "error")],
)
def test_a_run_that_was_killed_or_failed_differs_from_one_that_ended(
    planned: Plan, events: list[Event], reason: str
) -> None:
    assert find_stop(planned, [], events).reason == reason


USERS = (1, 4)


@pytest.fixture
def of_two_conditions() -> Plan:
    """Visits of trials 1 and 2, 3 and 4, and so on, each under 1 and under 4 users."""
    base = plan("abab")
    visits = tuple(
        PlannedVisit(
            visit=visit.visit,
            block=visit.block,
            system=visit.system,
            trials=tuple(
                PlannedTrial(
                    trial=2 * (visit.visit - 1) + place,
                    visit=visit.visit,
                    cell=Cell(system=visit.system, conditions={"load.users": users}),
                )
                for place, users in enumerate(USERS, start=1)
            ),
        )
        for visit in base.visits
    )
    return base.model_copy(update={"visits": visits, "forecast": FORECAST})


def measured(planned: Plan, *trials: int, outcome: Outcome = Outcome.OK) -> list[TrialRecord]:
    """A record of each of these trials."""
    return [
        record(each.trial, outcome).model_copy(update={"visit": visit.visit, "cell": each.cell})
        for visit in planned.visits
        for each in visit.trials
        if each.trial in trials
    ]


@pytest.mark.parametrize("reason", ["decided", "budget_visits", "budget_time", "interrupted"])
def test_a_visit_without_a_condition_that_was_answered_is_whole(
    of_two_conditions: Plan, reason: SessionEnd
) -> None:
    records = measured(of_two_conditions, 1, 2, 3, 4, 5, 7)
    stop = find_stop(of_two_conditions, records, [OPENED, closed(reason)])
    assert stop.visits_done == (3 if reason == "interrupted" else 4)


def test_a_visit_that_was_cut_after_a_condition_was_answered_counts_by_those_before_it(
    of_two_conditions: Plan,
) -> None:
    planned = of_two_conditions
    longer = planned.model_copy(update={"visits": (*planned.visits, *_later(planned))})
    records = measured(longer, 1, 2, 3, 4, 5, 7, 9)
    stop = find_stop(longer, records, [OPENED, closed("interrupted")])
    assert stop.visits_done == 5


def _later(planned: Plan) -> list[PlannedVisit]:
    """The visits once more, after themselves."""
    return [
        visit.model_copy(
            update={
                "visit": visit.visit + 4,
                "trials": tuple(
                    t.model_copy(update={"trial": t.trial + 8, "visit": t.visit + 4})
                    for t in visit.trials
                ),
            }
        )
        for visit in planned.visits
    ]


def test_a_visit_with_a_trial_that_has_no_good_attempt_is_not_whole(
    of_two_conditions: Plan,
) -> None:
    lost = measured(of_two_conditions, 2, outcome=Outcome.SERVICE_DIED)
    records = [*measured(of_two_conditions, 1), *lost, *measured(of_two_conditions, 3, 4)]
    assert find_stop(of_two_conditions, records, [OPENED, closed("decided")]).visits_done == 1
