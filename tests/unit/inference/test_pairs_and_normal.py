"""Studies whose visits are ordered in pairs, judged by either engine."""

from __future__ import annotations

import pytest
from tests.unit.judge.studies import RESPONSES, a_study, measured, noisy

from steelyard.inference.assumption import PairedNormal
from steelyard.inference.sequential import VerdictWord
from steelyard.judge.verdict import judge_study, look
from steelyard.judge.visits.readings import Readings
from steelyard.judge.visits.series import Pair
from steelyard.plan.make import make_plan
from steelyard.records.schema import Outcome, TrialRecord
from steelyard.study.model import Study

SEED = 7

RATE = RESPONSES["rate"]


def pairs(engine: str = "exact", **trials: object) -> Study:
    return a_study(users=(4,), judge={"engine": engine}, order="pairs", **trials)


def judged(study: Study, ratio: float, visits: int = 999) -> tuple[VerdictWord, set[str]]:
    plan = make_plan(study, SEED)
    findings = judge_study(study, plan, measured(plan, noisy(ratio), visits), run="one")
    (own,) = findings.workloads
    return own.verdicts[0].word, {each.kind for each in own.caveats}


@pytest.mark.parametrize("engine", ["exact", "normal"])
def test_pairs_find_a_difference_and_an_equality(engine: str) -> None:
    assert judged(pairs(engine), 1.2)[0] is VerdictWord.FASTER
    assert judged(pairs(engine, per_cell=40, margin_ratio=0.05), 1.0)[0] is VerdictWord.EQUIVALENT


def test_pairs_hold_both_systems_and_a_block_is_a_pair() -> None:
    plan = make_plan(pairs(), SEED)
    assert plan.design == "pairs"
    for first, second in zip(plan.visits[0::2], plan.visits[1::2], strict=True):
        assert {first.system, second.system} == set(plan.systems)
        assert first.block == second.block


def test_the_engine_normal_says_what_it_assumes() -> None:
    caveats = judged(pairs("normal"), 1.2)[1]
    assert "error_rate_by_normality" in caveats
    assert "error_rate_by_randomisation" not in caveats


def test_the_exact_engine_assumes_nothing_of_the_noise_in_pairs() -> None:
    assert "error_rate_by_randomisation" in judged(pairs(), 1.2)[1]


def test_a_visit_without_its_partner_does_not_count_for_normal() -> None:
    study = pairs("normal")
    plan = make_plan(study, SEED)
    records = [_failed(r) if r.visit == 4 else r for r in measured(plan, noisy(1.2), 15)]
    series = Readings(plan, records, assumption=PairedNormal()).series(
        Pair("fast", "durable"), RATE, None
    )
    assert series.visits == (1, 2, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14)
    assert Readings(plan, records).series(Pair("fast", "durable"), RATE, None).visits == (
        1, 2, 3, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
    )  # fmt: skip


def test_both_engines_stop_a_study_while_it_runs() -> None:
    for engine in ("exact", "normal"):
        study = pairs(engine)
        plan = make_plan(study, SEED)
        assert look(study, plan, measured(plan, noisy(1.3), 16)).decided


def _failed(record: TrialRecord) -> TrialRecord:
    return record.model_copy(update={"outcome": Outcome.TOOL_FAILED, "responses": {}})
