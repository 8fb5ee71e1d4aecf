"""Operations that failed in trials that count: how, in the report, by trial and by system."""

from __future__ import annotations

from tests.unit.judge.quick import judge_study
from tests.unit.judge.studies import a_study, measured, noisy

from steelyard.judge.findings import RunFindings
from steelyard.plan.make import make_plan
from steelyard.records.schema import FailedOperations, Measured, Outcome
from steelyard.report.sentences.failures import failed_lines
from steelyard.report.tables.responses import attempt_table
from steelyard.report.view import NONE, views

REFUSED = FailedOperations(
    phase="ttfb", error="bad_status_5xx", count=3, status="503", reply="Busy: try later"
)
RESET = FailedOperations(phase="body", error="conn_reset", count=1)


def found_with(outcome: Outcome = Outcome.OK) -> RunFindings:
    study = a_study(users=(1,))
    plan = make_plan(study, 3)
    records = measured(plan, noisy(0.8))
    failing = {"outcome": outcome, "failed_operations": (REFUSED, RESET)}
    changed = [
        record.model_copy(
            update={
                "responses": record.responses
                | {"errors": Measured(value=0.04, unit="ratio", of=100)},
                **failing,
            }
        )
        if record.cell.system == "durable"
        else record
        for record in records
    ]
    return judge_study(study, plan, changed, run="r")


def test_a_trial_that_counts_shows_phase_kind_status_and_words() -> None:
    rows = attempt_table(found_with()).rows
    remarks = {row[2]: row[6] for row in rows}
    assert remarks["durable"] == (
        "Failed: HTTP status 503 in phase ttfb, 3 operations (reply: Busy: try later). "
        "Failed: conn reset in phase body, 1 operation"
    )
    assert remarks["fast"] == NONE


def test_a_system_shows_them_over_all_its_trials_the_commonest_first() -> None:
    found = found_with()
    trials = sum(attempt.cell.system == "durable" for attempt in found.attempts)
    (line,) = [line for line in failed_lines(views(found)[0]) if line.startswith("durable")]
    assert f"HTTP status 503 in phase ttfb, {3 * trials} operations (reply: Busy" in line
    assert line.endswith(f"conn reset in phase body, {trials} operations.")


def test_a_trial_that_does_not_count_says_it_in_its_message_alone() -> None:
    remarks = {row[2]: row[6] for row in attempt_table(found_with(Outcome.INVALID)).rows}
    assert "Failed:" not in remarks["durable"]
