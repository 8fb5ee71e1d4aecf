"""Sentences of a study, held against simulated trials."""

from __future__ import annotations

import math
from typing import Any

import pytest
from tests.unit.judge.quick import judge_study, look
from tests.unit.judge.studies import a_study, measured, noisy, raced

from steelyard.judge.analyses.claims.findings import ClaimFamily, ClaimFinding, ClaimWord
from steelyard.judge.findings import RunFindings
from steelyard.judge.kinds.verdict_notes import CarryOverFound, ValueUnusable
from steelyard.plan.make import make_plan
from steelyard.study.model import ClaimSpec

RATIOS = {"a": 1.0, "b": 0.97, "c": 0.8}


def claim(
    kind: str, subject: str | None = "b", other: str | None = "a", **changes: Any
) -> ClaimSpec:
    return ClaimSpec.model_validate(
        {"id": "it", "kind": kind, "subject": subject, "other": other, **changes}
    )


def findings(*claims: ClaimSpec, per_cell: int = 30, users: tuple[int, ...] = (1,)) -> RunFindings:
    study = a_study(tuple(RATIOS), users, per_cell, claims=claims, margin_ratio=0.05)
    plan = make_plan(study, 3)
    return judge_study(study, plan, measured(plan, noisy(RATIOS)), run="r")


def judged(*claims: ClaimSpec, **changes: Any) -> ClaimFinding:
    return findings(*claims, **changes).workloads[0].claims[0]


@pytest.mark.parametrize(
    ("kind", "subject", "changes", "word"),
    [
        ("at_least", "b", {"factor": 0.9}, "supported"),
        ("at_least", "b", {"factor": 0.999}, "contradicted"),
        ("at_most", "c", {"factor": 0.9}, "supported"),
        ("at_most", "b", {"factor": 0.9}, "contradicted"),
        ("within", "b", {"factor": 0.1}, "supported"),
        ("within", "c", {"factor": 0.1}, "contradicted"),
        ("slower_than", "c", {}, "supported"),
        ("faster_than", "c", {}, "contradicted"),
        ("equivalent_to", "b", {}, "supported"),
        ("no_worse_than", "b", {}, "supported"),
        ("no_worse_than", "c", {}, "contradicted"),
    ],
)
def test_a_claim_is_held_against_the_ratio(
    kind: str, subject: str, changes: dict[str, Any], word: str
) -> None:
    assert judged(claim(kind, subject, **changes)).word == word


def test_a_claim_close_to_the_truth_is_undecided() -> None:
    found = judged(claim("at_least", factor=0.97))
    assert found.word is ClaimWord.UNDECIDED


def test_a_claim_needs_no_baseline() -> None:
    found = judged(claim("slower_than", "c", other="b"))
    part = found.parts[0]
    assert found.word is ClaimWord.SUPPORTED
    assert part.estimate_log == pytest.approx(math.log(0.8 / 0.97), abs=0.01)
    assert part.low_log is not None
    assert part.high_log is not None
    assert part.low_log < math.log(0.8 / 0.97) < part.high_log < 0


def test_of_a_response_time_better_is_less_and_the_ratio_is_raw() -> None:
    found = judged(claim("slower_than", "c", response="p99"))
    assert found.word is ClaimWord.SUPPORTED
    assert found.parts[0].estimate_log == pytest.approx(-math.log(0.8), abs=0.01)
    assert found.parts[0].claimed_low_log == 0
    assert found.parts[0].claimed_high_log is None


def test_every_level_but_those_that_are_excepted_must_hold() -> None:
    every = claim("no_worse_than", None, every_level_of="system")
    but = every.model_copy(update={"excepted": ("c",)})
    assert judged(every).word is ClaimWord.CONTRADICTED
    assert [part.subject for part in judged(every).parts] == ["b", "c"]
    assert judged(but).word is ClaimWord.SUPPORTED


def test_a_claim_at_a_condition_is_judged_there_alone() -> None:
    at = claim("slower_than", "c", at={"load.users": 4})
    found = judged(at, users=(1, 4), per_cell=12)
    assert found.conditions == {"load.users": 4}
    assert found.word is ClaimWord.SUPPORTED


def test_claims_share_one_error_rate() -> None:
    one = judged(claim("slower_than", "c"))
    two = judged(claim("slower_than", "c"), claim("faster_than", "b", id="other"))
    assert one.parts[0].interval_level == pytest.approx(1 - 2 * 0.05)
    assert two.parts[0].interval_level == pytest.approx(1 - 2 * 0.025)
    assert two.family == ClaimFamily(claims=2, parts=1)


def test_a_study_goes_on_while_a_claim_may_still_be_decided() -> None:
    claims = (claim("at_least", "c", factor=0.795),)
    study = a_study(("a", "c"), (1,), 60, claims=claims)
    plan = make_plan(study, 3)
    records = measured(plan, noisy(RATIOS, 0.02), visits=24)
    plain = look(a_study(("a", "c"), (1,), 60), plan, records)
    stands = look(study, plan, records)
    assert plain.decided
    assert not stands.decided
    assert stands.may_continue
    assert stands.open_claims == ("it",)


def test_the_systems_of_an_open_claim_stay_in_the_elimination() -> None:
    names = ("a", "b", "c", "d")
    claims = (claim("at_least", "c", other="d", factor=1.0),)
    ratios = {"a": 1.0, "b": 1.3, "c": 0.7, "d": 0.7}
    study = a_study(names, (1,), 24, claims=claims)
    plan = make_plan(study, 3)
    records = raced(study, plan, noisy(ratios, 0.02))
    last = {r.cell.system for r in records if r.visit > records[-1].visit - 6}
    assert {"c", "d"} <= last
    assert "b" not in last


def test_a_claim_of_what_was_not_measured_says_so() -> None:
    study = a_study(("a", "b"), (1,), 20, claims=(claim("faster_than"),))
    plan = make_plan(study, 3)
    records = measured(plan, lambda trial: 0.0 if trial.cell.system == "b" else 10.0)
    found = judge_study(study, plan, records, run="r").workloads[0].claims[0]
    assert found.word is ClaimWord.NOT_JUDGED
    (note,) = found.parts[0].notes
    assert isinstance(note, ValueUnusable)
    assert note.value == "zero"


def test_a_vetoed_comparison_decides_no_claim() -> None:
    study = a_study(("a", "b"), (1,), 20, claims=(claim("slower_than"),))
    plan = make_plan(study, 3)
    system_of = {visit.visit: visit.system for visit in plan.visits}
    value = noisy({"b": 0.9})

    def haunted(trial: Any) -> float:
        return (value(trial) or 1.0) * (1.1 if system_of.get(trial.visit - 1) == "b" else 1.0)

    found = judge_study(study, plan, measured(plan, haunted), run="r").workloads[0].claims[0]
    assert found.word is ClaimWord.UNDECIDED
    assert isinstance(found.parts[0].notes[0], CarryOverFound)


def test_a_claim_of_a_peak_without_a_curve_says_why() -> None:
    found = judged(claim("peak_users", "a", other=None, low=30.0, high=70.0))
    assert found.word is ClaimWord.NOT_JUDGED
    assert found.notes
