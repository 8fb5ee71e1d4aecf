"""The baseline measured again must be equal to itself."""

from __future__ import annotations

import pytest
from tests.unit.judge.quick import judge_study, look, remaining_systems
from tests.unit.judge.studies import a_study, measured, noisy, raced

from steelyard.inference.sequential import VerdictWord
from steelyard.judge.analyses.claims.findings import ClaimWord
from steelyard.judge.findings import RunFindings
from steelyard.judge.kinds.verdict_notes import AaControlDiffers
from steelyard.plan.make import make_plan
from steelyard.report.sentences.assumptions import sure_lines
from steelyard.report.view import views
from steelyard.study.model import ClaimSpec

NAMES = ("a", "b", "a-again")
CLAIM = ClaimSpec(id="it", kind="slower_than", subject="b", other="a")


def findings(again: float, b: float = 0.8) -> RunFindings:
    study = a_study(NAMES, (1,), 16, aa_control="a-again", claims=(CLAIM,))
    plan = make_plan(study, 3)
    value = noisy({"b": b, "a-again": again})
    return judge_study(study, plan, measured(plan, value), run="r")


def test_an_equal_a_a_control_is_reported_and_changes_nothing() -> None:
    found = findings(1.0)
    assert found.workloads[0].verdicts[0].word is VerdictWord.SLOWER
    assert found.workloads[0].aa_control is not None
    assert any("A/A control" in line for line in sure_lines(views(found)[0]))


def test_a_baseline_that_differs_from_itself_withholds_everything() -> None:
    found = findings(0.8, b=0.99)
    own = [v for v in found.workloads[0].verdicts if not v.exploratory]
    assert {v.word for v in own} == {VerdictWord.UNDECIDED}
    assert own[0].withheld == AaControlDiffers(baseline="a", other="a-again")
    assert found.workloads[0].claims[0].word is ClaimWord.UNDECIDED
    assert any("differs from itself" in line for line in sure_lines(views(found)[0]))


def test_a_control_that_differs_only_later_stands_beside_the_verdict() -> None:
    verdict = findings(0.97).workloads[0].verdicts[0]
    assert verdict.word is VerdictWord.SLOWER
    assert AaControlDiffers(baseline="a", other="a-again") in verdict.notes


def test_the_a_a_control_takes_no_part_of_the_error_rate_and_no_place() -> None:
    found = findings(1.0)
    assert {v.other for v in found.workloads[0].verdicts} == {"b"}
    assert found.workloads[0].verdicts[0].interval_level == pytest.approx(0.95)
    assert found.workloads[0].rankings == ()


def test_the_a_a_control_is_measured_as_long_as_any_system() -> None:
    names = ("a", "b", "c", "a-again")
    study = a_study(names, (1,), 30, aa_control="a-again")
    plan = make_plan(study, 3)
    records = raced(study, plan, noisy({"b": 1.3, "c": 1.004}, 0.02), 5)
    assert remaining_systems(study, plan, records, 6) == {"a", "c", "a-again"}


def test_the_look_withholds_with_the_findings() -> None:
    study = a_study(NAMES, (1,), 16, aa_control="a-again")
    plan = make_plan(study, 3)
    records = measured(plan, noisy({"b": 0.99, "a-again": 0.8}))
    assert not look(study, plan, records).decided
