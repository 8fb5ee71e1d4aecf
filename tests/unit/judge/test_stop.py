"""Why a run ended follows from its ledger."""

from __future__ import annotations

import pytest
from tests.unit.trial.test_state import plan, record

from steelyard.judge.stopping.stop import find_stop
from steelyard.plan.model import Plan
from steelyard.records.events import Event, SessionClosed, SessionEnd, SessionOpened
from steelyard.records.schema import Outcome

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


@pytest.mark.parametrize("events", [[], [OPENED], [OPENED, closed(None)]])
def test_a_run_without_a_reason_is_running(planned: Plan, events: list[Event]) -> None:
    assert find_stop(planned, [], events).reason == "running"
