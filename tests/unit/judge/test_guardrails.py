"""Faster while failing more is never faster."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from tests.unit.judge.quick import judge_study, look
from tests.unit.judge.studies import RESPONSES, Value, a_record, a_study, kinds, noisy

from steelyard.inference.sequential import VerdictWord
from steelyard.judge.findings import RunFindings, VerdictFinding, WorkloadFindings
from steelyard.judge.kinds.verdict_notes import (
    GuardrailsOpen,
    NeverFailed,
    ValuesUndefined,
    ValueUnusable,
)
from steelyard.judge.visits.series import Series
from steelyard.plan.make import make_plan
from steelyard.plan.model import PlannedTrial
from steelyard.records.missing import FailedBeyond, TooFewTimes
from steelyard.records.schema import Measured, TrialRecord
from steelyard.report import notes
from steelyard.report.formats.markdown import markdown_text
from steelyard.report.sentences.failures import contrast_lines
from steelyard.report.tables.response_notes import BEYOND, NOT_MEASURED
from steelyard.study.labels import Labels
from steelyard.study.model import GuardrailSpec, Study

FAILURES = GuardrailSpec(
    name="errors", label="errors", unit="ratio", direction="lower", margin=0.001, absolute=True
)
TAIL = GuardrailSpec(name="p99", label="p99", unit="ns", direction="lower", margin=0.25)
TOO_FEW = TooFewTimes(figure="p99", needed=1000)


def check_guardrail(
    *guardrails: GuardrailSpec,
    shares: tuple[float, float] = (0.0, 0.0),
    tail: float | None = 1.0,
    rate: Value | None = None,
    declared: bool = True,
    per_cell: int = 16,
) -> tuple[Study, Any, list[TrialRecord]]:
    """``shares`` fail on baseline and other; ``tail`` is the other's p99 over the baseline's."""
    known = {g.name: g.model_copy(update={"declared": declared}) for g in guardrails}
    study = a_study(users=(1,), per_cell=per_cell, guardrails=known)
    plan = make_plan(study, 3)
    random = np.random.default_rng(5)
    rate = rate or noisy(1.2)

    def record(trial: PlannedTrial) -> TrialRecord:
        other = trial.cell.system == "durable"
        of = 5_000 + int(random.integers(500))
        share = random.binomial(of, shares[other]) / of
        p99 = 1e6 * math.exp(random.normal(0, 0.05)) * ((tail or 1.0) if other else 1.0)
        return a_record(
            trial,
            None,
            responses={
                "rate": Measured(value=rate(trial), unit="1/s"),
                "p99": Measured(value=p99, unit="ns")
                if tail is not None
                else Measured(value=None, unit="ns", missing=TOO_FEW),
                "errors": Measured(value=share, unit="ratio", of=of),
            },
        )

    return study, plan, [record(t) for visit in plan.visits for t in visit.trials]


def findings(*guardrails: GuardrailSpec, **changes: Any) -> RunFindings:
    study, plan, records = check_guardrail(*guardrails, **changes)
    return judge_study(study, plan, records, run="r")


def overall(found: RunFindings) -> VerdictFinding:
    return next(v for v in found.workloads[0].verdicts if not v.exploratory)


def test_a_system_without_failures_and_with_a_short_tail_is_faster() -> None:
    verdict = overall(findings(FAILURES, TAIL))
    assert verdict.word is VerdictWord.FASTER
    assert [guardrail.state for guardrail in verdict.guardrails] == ["held", "held"]


def test_faster_while_failing_more_is_a_trade_off() -> None:
    verdict = overall(findings(FAILURES, TAIL, shares=(0.0, 0.02)))
    assert verdict.words == (VerdictWord.TRADE_OFF,)
    broken = next(guardrail for guardrail in verdict.guardrails if guardrail.response == "errors")
    assert broken.state == "broken"
    assert broken.effect == pytest.approx(0.02, abs=0.002)


def test_failures_in_a_few_visits_only_count_by_their_mean() -> None:
    """The typical visit fails nothing; an operation fails twice as often as the margin allows."""
    study, plan, records = check_guardrail(FAILURES)
    others = [record for record in records if record.cell.system == "durable"]
    for record in others[::6]:
        record.responses["errors"] = Measured(value=0.012, unit="ratio", of=5_000)
    verdict = overall(judge_study(study, plan, records, run="r"))
    assert isinstance(verdict.withheld, GuardrailsOpen)
    (guardrail,) = verdict.guardrails
    assert (guardrail.state, guardrail.effect) == ("open", pytest.approx(0.0024))


def test_a_longer_tail_is_a_trade_off_too() -> None:
    verdict = overall(findings(TAIL, tail=1.8))
    assert verdict.word is VerdictWord.TRADE_OFF
    assert verdict.guardrails[0].effect == pytest.approx(math.log(1.8), abs=0.1)


def test_a_slower_system_that_fails_less_is_a_trade_off_of_the_baseline() -> None:
    verdict = overall(findings(FAILURES, shares=(0.02, 0.0), rate=noisy(0.8)))
    assert verdict.word is VerdictWord.TRADE_OFF
    assert verdict.estimate_log == pytest.approx(math.log(0.8), abs=0.01)


def test_failing_less_and_being_faster_is_faster() -> None:
    assert overall(findings(FAILURES, shares=(0.02, 0.0))).word is VerdictWord.FASTER


def test_until_a_guardrail_is_known_nothing_is_said_and_the_study_goes_on() -> None:
    narrow = TAIL.model_copy(update={"margin": 0.01})
    study, plan, records = check_guardrail(narrow, tail=1.008)
    records = records[:12]
    verdict = overall(judge_study(study, plan, records, run="r"))
    assert verdict.word is VerdictWord.UNDECIDED
    assert isinstance(verdict.withheld, GuardrailsOpen)
    assert verdict.visits_to_decide is None, "more visits of what is known already bring nothing"
    assert verdict.withheld.system == "durable"
    (guardrail,) = verdict.withheld.guardrails
    assert (guardrail.label, guardrail.state) == ("p99", "open")
    assert guardrail.margin == pytest.approx(math.log1p(0.01))
    assert not look(study, plan, records).decided


def test_a_declared_guardrail_that_was_not_measured_forbids_the_word() -> None:
    verdict = overall(findings(TAIL, tail=None))
    assert verdict.word is VerdictWord.UNDECIDED
    assert isinstance(verdict.withheld, GuardrailsOpen)
    (guardrail,) = verdict.withheld.guardrails
    assert isinstance(guardrail.reason, ValueUnusable)
    assert guardrail.reason.reason == TOO_FEW


def test_a_guardrail_by_default_that_was_not_measured_is_reported_and_forbids_nothing() -> None:
    verdict = overall(findings(TAIL, tail=None, declared=False))
    assert verdict.word is VerdictWord.FASTER
    assert "guardrail_not_checked" in kinds(verdict)


def test_equal_systems_need_no_guardrail() -> None:
    verdict = overall(findings(FAILURES, rate=noisy(1.0, noise=0.004), per_cell=24))
    assert verdict.word is VerdictWord.EQUIVALENT
    assert verdict.guardrails == ()


def test_a_trade_off_ends_a_study() -> None:
    study, plan, records = check_guardrail(FAILURES, shares=(0.0, 0.02))
    assert look(study, plan, records).decided


def test_failures_are_judged_by_visit_with_their_odds() -> None:
    found = findings(shares=(0.01, 0.03))
    contrast = found.workloads[0].failure_contrasts[0]
    assert contrast.word == "fails_more"
    assert contrast.odds_log == pytest.approx(
        math.log(0.03 / 0.97) - math.log(0.01 / 0.99), abs=0.2
    )
    assert contrast.low_log is not None
    assert contrast.low_log > 0


@pytest.mark.parametrize("shares", [(0.0, 0.05), (0.05, 0.0)])
def test_a_system_without_any_failure_has_no_ratio_to_one_that_fails(
    shares: tuple[float, float],
) -> None:
    """Odds of nothing are those of half an operation in a trial: a longer window halves them."""
    own = findings(shares=shares).workloads[0]
    (contrast,) = own.failure_contrasts
    assert contrast.word == ("fails_more" if shares[1] else "fails_less")
    assert (contrast.odds_log, contrast.low_log, contrast.high_log) == (None, None, None)
    (line,) = contrast_lines(contrast)
    assert "times the odds" not in line
    (verdict,) = listed_failures(shares).verdicts[-1:]
    assert verdict.word is (VerdictWord.SLOWER if shares[1] else VerdictWord.FASTER)
    assert (verdict.estimate_log, verdict.low_log, verdict.high_log) == (None, None, None)
    (note,) = (note for note in verdict.notes if isinstance(note, NeverFailed))
    assert note.systems == (verdict.other if shares[0] else verdict.baseline,)


def test_a_system_without_visits_has_not_been_without_failures() -> None:
    series = Series(
        visits=(1, 2), slots=(0, 1), other=np.array([False, False]), values=np.array([5.0, 5.0]),
        problems=(), of_none=5.0,
    )  # fmt: skip
    assert series.never == (True, False)


def test_no_failure_at_all_is_below_three_over_n_and_no_difference() -> None:
    found = findings()
    assert found.workloads[0].failure_contrasts[0].word == "none_failed"
    for count in found.workloads[0].failures:
        assert count.failed == 0
        assert count.below == pytest.approx(3 / (count.operations or 0))


def test_more_operations_alone_do_not_look_like_fewer_failures() -> None:
    """One failure in one trial, and twice as many operations on one system."""
    study, plan, records = check_guardrail()
    changed = []
    for record in records:
        other = record.cell.system == "durable"
        failed = 1 if record is records[0] else 0
        of = 10_000 if other else 5_000
        errors = Measured(value=failed / of, unit="ratio", of=of)
        changed.append(
            record.model_copy(update={"responses": record.responses | {"errors": errors}})
        )
    found = judge_study(study, plan, changed, run="r")
    assert found.workloads[0].failure_contrasts[0].word == "undecided"


def listed_failures(shares: tuple[float, float]) -> WorkloadFindings:
    """Of a study that lists its failures as a response."""
    study, plan, records = check_guardrail(shares=shares)
    errors = RESPONSES["p99"].model_copy(update={"name": "errors", "label": "errors"})
    smtp = study.measured["smtp"]
    smtp = smtp.model_copy(update={"responses": smtp.responses | {"errors": errors}})
    listed = study.model_copy(update={"measured": {"smtp": smtp}})
    return judge_study(listed, plan, records, run="r").workloads[0]


def test_a_listed_response_of_failures_is_judged_and_not_refused_for_its_zeros() -> None:
    own = listed_failures((0.01, 0.03))
    verdict = next(v for v in own.verdicts if v.response == "errors")
    assert verdict.word is VerdictWord.SLOWER
    assert verdict.estimate_log is not None


def undefined(share_of_other: float, noise: float = 0.01) -> VerdictFinding:
    """By p99, where that of the other system is undefined in some visits."""
    return overall(partly_undefined(share_of_other, noise))


def partly_undefined(share_of_other: float, noise: float = 0.01) -> RunFindings:
    tail = RESPONSES["p99"].model_copy(update={"primary": True})
    study = a_study(users=(1,), per_cell=16, responses={"p99": tail})
    plan = make_plan(study, 3)
    random = np.random.default_rng(2)

    def record(trial: PlannedTrial) -> TrialRecord:
        value = 1e6 * math.exp(random.normal(0, noise))
        if trial.cell.system == "durable" and random.random() < share_of_other:
            gone = Measured(
                value=None, unit="ns", missing=FailedBeyond(failed_share=0.5), infinite=True
            )
            return a_record(trial, None, responses={"p99": gone})
        return a_record(trial, None, responses={"p99": Measured(value=value, unit="ns")})

    records = [record(t) for visit in plan.visits for t in visit.trials]
    return judge_study(study, plan, records, run="r")


def test_a_cell_counts_the_trials_that_lie_beyond_all_values() -> None:
    fast, durable = partly_undefined(1.0).workloads[0].cells
    assert (fast.beyond, durable.beyond, durable.values) == (0, 15, ())


def test_what_lies_beyond_is_said_to_be_there_in_the_table() -> None:
    text = markdown_text(partly_undefined(1.0))
    assert BEYOND in text
    assert f"| {NOT_MEASURED} |" not in text


def test_a_dip_that_had_not_ended_is_not_put_down_to_failed_operations() -> None:
    note = ValuesUndefined(
        label="dip", baseline="one", other="two", undefined_baseline=3, visits_baseline=3,
        undefined_other=5, visits_other=5, why="not_recovered",
    )  # fmt: skip
    for said in (notes.text(note, Labels()), notes.brief(note, Labels())):
        assert "operations failed" not in said
    assert "that of the others" not in notes.text(note, Labels()), "there are none"


def test_a_percentile_that_is_undefined_everywhere_ranks_last() -> None:
    verdict = undefined(1.0)
    assert verdict.word is VerdictWord.SLOWER
    assert verdict.estimate_log is None
    (note,) = (note for note in verdict.notes if isinstance(note, ValuesUndefined))
    assert (note.undefined_baseline, note.visits_baseline) == (0, 17)
    assert (note.undefined_other, note.visits_other) == (15, 15)


def test_a_percentile_that_is_undefined_in_half_of_the_visits_makes_a_system_slower() -> None:
    verdict = undefined(0.5)
    assert verdict.word is VerdictWord.SLOWER
    assert verdict.estimate_log is not None
    assert math.isfinite(verdict.estimate_log)
    assert "values_undefined" in kinds(verdict)
