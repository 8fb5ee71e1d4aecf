"""A study that asks for a span of time decides nothing before it has passed."""

from __future__ import annotations

import pytest
from tests.unit.judge.quick import judge_study
from tests.unit.judge.studies import Value, a_record, a_study, kinds, noisy

from steelyard.inference.sequential import VerdictWord
from steelyard.judge.analyses.claims.findings import ClaimWord
from steelyard.judge.findings import RunFindings, VerdictFinding
from steelyard.judge.kinds.verdict_notes import SpanDisagrees, SpanTooShort
from steelyard.plan.make import make_plan
from steelyard.plan.model import PlannedTrial
from steelyard.records.schema import TrialRecord
from steelyard.report.notes.verdict import note_text
from steelyard.study.model import ClaimSpec

MINUTE = 60


def judged(value: Value, span_s: float | None, visits: int = 48, **changes: object) -> RunFindings:
    """A study whose visits take a minute each."""
    study = a_study(users=(1,), per_cell=24, span_s=span_s, **changes)
    plan = make_plan(study, 3)
    trials = [trial for visit in plan.visits[:visits] for trial in visit.trials]
    records = [_lasting_a_minute(a_record(trial, value(trial))) for trial in trials]
    return judge_study(study, plan, records, run="r")


def _lasting_a_minute(record: TrialRecord) -> TrialRecord:
    begun = record.visit * MINUTE * 10**9
    ended = begun + MINUTE * 10**9
    return record.model_copy(update={"started_unix_ns": begun, "finished_unix_ns": ended})


def verdict(value: Value, span_s: float | None, visits: int = 48) -> VerdictFinding:
    return judged(value, span_s, visits).workloads[0].verdicts[0]


def of_its_time(trial: PlannedTrial) -> float:
    """One is 4 % slower in the first twelve minutes, and then the same as the other."""
    slow = trial.cell.system == "durable" and trial.visit <= 12
    value = noisy(0.96 if slow else 1.0, seed=trial.trial)(trial)
    assert value is not None
    return value


def test_a_clear_difference_is_open_until_the_span_has_passed() -> None:
    early = verdict(noisy(0.8), 30 * MINUTE, visits=29)
    assert early.word is VerdictWord.UNDECIDED
    assert early.withheld == SpanTooShort(span_s=29 * MINUTE, least_s=30 * MINUTE)
    assert early.visits_to_decide is None
    late = verdict(noisy(0.8), 30 * MINUTE, visits=30)
    assert (late.word, late.decided_at_visit) == (VerdictWord.SLOWER, 30)
    assert late.withheld is None


def test_it_stays_decided_from_then_on() -> None:
    found = verdict(noisy(0.8), 30 * MINUTE)
    assert (found.word, found.decided_at_visit) == (VerdictWord.SLOWER, 30)


def test_without_a_span_the_same_study_is_decided_early() -> None:
    assert (verdict(noisy(0.8), None).decided_at_visit or 99) < 20


def test_a_difference_that_was_of_the_first_minutes_is_not_borne_by_the_whole_span() -> None:
    assert verdict(of_its_time, None).word is VerdictWord.SLOWER
    whole = verdict(of_its_time, 48 * MINUTE)
    assert whole.word is VerdictWord.UNDECIDED
    assert whole.withheld == SpanDisagrees(span_s=48 * MINUTE)
    assert "do not bear it" in note_text(whole.withheld)


def test_what_is_undecided_anyway_gives_no_reason_of_time() -> None:
    found = verdict(noisy(1.0, noise=0.06), 90 * MINUTE)
    assert found.word is VerdictWord.UNDECIDED
    assert not kinds(found) & {"span_too_short", "span_disagrees"}


@pytest.mark.parametrize(("visits", "word"), [(29, "undecided"), (30, "supported")])
def test_a_claim_waits_for_the_span_as_well(visits: int, word: str) -> None:
    claim = ClaimSpec(id="c", kind="slower_than", subject="durable", other="fast")
    found = judged(noisy(0.8), 30 * MINUTE, visits, claims=(claim,))
    [said] = found.workloads[0].claims
    assert said.word is ClaimWord(word)
