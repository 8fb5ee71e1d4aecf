"""Three systems and more: which are compared, dropped and distinguished."""

from __future__ import annotations

import math
from collections import Counter
from functools import cache
from itertools import pairwise

import pytest
from tests.unit.judge.quick import judge_study, look, remaining_systems
from tests.unit.judge.studies import a_study, measured, noisy, raced

from steelyard.inference.sequential import VerdictWord
from steelyard.judge.comparisons.families import Family
from steelyard.judge.comparisons.forecast import slowest
from steelyard.judge.findings import RunFindings
from steelyard.judge.kinds.caveats import SystemFutility
from steelyard.judge.kinds.verdict_notes import CarryOverFound
from steelyard.plan.make import make_plan
from steelyard.plan.model import PlannedTrial
from steelyard.records.events import CommonestFailure, FutilityReason, SystemStopped
from steelyard.records.schema import Outcome, TrialRecord

RATIOS = {"a": 1.0, "b": 1.3, "c": 1.005, "d": 0.75}
NAMES = tuple(RATIOS)


@cache
def race(per_cell: int = 40, *, all_pairs: bool = False, blocks: int = 999) -> RunFindings:
    contrasts = "all pairs" if all_pairs else "baseline"
    study = a_study(NAMES, (1,), per_cell, judge={"contrasts": contrasts})
    plan = make_plan(study, 3)
    return judge_study(study, plan, raced(study, plan, noisy(RATIOS, 0.02), blocks), run="r")


def visits_of(findings: RunFindings) -> Counter[str]:
    return Counter(attempt.cell.system for attempt in findings.attempts)


def test_decided_systems_leave_and_the_baseline_stays_while_any_is_open() -> None:
    visits = visits_of(race())
    assert max(visits["b"], visits["d"]) < visits["c"] == visits["a"]


def test_a_system_that_left_keeps_its_verdict_and_its_visits() -> None:
    early, late = race(blocks=6), race()
    for system in ("b", "d"):
        before = next(v for v in early.workloads[0].verdicts if v.other == system)
        after = next(v for v in late.workloads[0].verdicts if v.other == system)
        assert after == before
        assert after.n_other == after.n_baseline == visits_of(late)[system]


def test_later_visits_of_the_baseline_do_not_count_for_those_that_have_left() -> None:
    findings = race()
    of_b = next(v for v in findings.workloads[0].verdicts if v.other == "b")
    of_c = next(v for v in findings.workloads[0].verdicts if v.other == "c")
    assert of_b.n_baseline < of_c.n_baseline == visits_of(findings)["a"]


def test_who_is_left_in_a_block_is_known_from_the_blocks_before_it() -> None:
    study = a_study(NAMES, (1,), 60)
    plan = make_plan(study, 3)
    records = raced(study, plan, noisy(RATIOS))
    last = max(visit.block for visit in plan.visits if visit.visit == records[-1].visit)
    for block in range(1, last + 1):
        before = [r for r in records if plan.visits[r.visit - 1].block < block]
        remaining = remaining_systems(study, plan, records, block)
        assert remaining == remaining_systems(study, plan, before, block)
        seen = {r.cell.system for r in records if plan.visits[r.visit - 1].block == block}
        assert remaining == seen


def test_a_system_that_left_never_comes_back() -> None:
    study = a_study(NAMES, (1,), 60)
    plan = make_plan(study, 3)
    records = raced(study, plan, noisy(RATIOS))
    still = [remaining_systems(study, plan, records, block) for block in range(1, 12)]
    assert all(later <= sooner for sooner, later in pairwise(still))


def test_two_systems_have_no_elimination() -> None:
    study = a_study(users=(1,))
    plan = make_plan(study, 3)
    assert remaining_systems(study, plan, measured(plan, noisy(0.5)), 20) == {"fast", "durable"}


def test_each_comparison_with_the_baseline_has_its_part_of_the_rate() -> None:
    levels = {v.interval_level for v in race().workloads[0].verdicts if not v.exploratory}
    assert list(levels) == [pytest.approx(1 - 0.05 / 3)]


def test_all_pairs_are_compared_when_the_study_asks_for_them() -> None:
    own = [v for v in race(all_pairs=True).workloads[0].verdicts if not v.exploratory]
    assert [(v.baseline, v.other) for v in own] == [
        ("a", "b"), ("a", "c"), ("a", "d"), ("b", "c"), ("b", "d"), ("c", "d"),
    ]  # fmt: skip
    assert {v.family for v in own} == {Family(response="throughput", scope="overall", pairs=6)}
    assert own[4].estimate_log == pytest.approx(math.log(0.75 / 1.3), abs=0.02)


def test_with_all_pairs_no_one_leaves_before_all_its_pairs_are_decided() -> None:
    visits = visits_of(race(all_pairs=True))
    assert max(visits["b"], visits["d"]) < visits["a"] == visits["c"]


def test_the_look_names_both_systems_of_a_pair() -> None:
    study = a_study(NAMES[:3], (1,), judge={"contrasts": "all pairs"})
    plan = make_plan(study, 3)
    stands = look(study, plan, measured(plan, noisy(RATIOS), visits=6))
    assert [(each.other, each.baseline) for each in stands.words] == [
        ("b", "a"),
        ("c", "a"),
        ("c", "b"),
    ]


def test_the_forecast_of_an_elimination_counts_the_visits_of_all_that_are_in_it() -> None:
    study = a_study(NAMES, (1,), 60)
    plan = make_plan(study, 5)
    records = raced(study, plan, noisy(RATIOS, noise=0.03), 4)
    findings = judge_study(study, plan, records, run="r")
    open_ = [
        v
        for v in findings.workloads[0].verdicts
        if v.word is VerdictWord.UNDECIDED and not v.exploratory
    ]
    of_pairs = slowest([v.visits_to_decide for v in open_])
    assert of_pairs is not None
    assert look(study, plan, records).visits_to_decide == of_pairs.of_all(len(open_) + 1)


def test_the_ranking_says_which_neighbours_cannot_be_distinguished() -> None:
    ranking = race(per_cell=12, all_pairs=True).workloads[0].rankings[0]
    assert [p.system for p in ranking.places][0::3] == ["b", "d"]
    assert [(p.best, p.worst) for p in ranking.places] == [(1, 1), (2, 3), (2, 3), (4, 4)]
    assert [p.next for p in ranking.places] == ["apart", "open", "apart", None]


def test_a_ranking_from_the_baseline_alone_allows_more_places_but_never_a_wrong_one() -> None:
    ranking = race(per_cell=12).workloads[0].rankings[0]
    assert ranking.alpha == pytest.approx(0.1)
    places = {p.system: (p.best, p.worst) for p in ranking.places}
    for place, system in enumerate("bcad", start=1):
        best, worst = places[system]
        assert best <= place <= worst
    assert places["d"][0] > places["b"][0]


def test_neighbours_within_the_margin_are_called_so() -> None:
    ranking = race(per_cell=100, all_pairs=True).workloads[0].rankings[0]
    assert {p.next for p in ranking.places[1:2]} == {"equivalent"}


def test_a_withheld_verdict_distinguishes_no_systems() -> None:
    study = a_study(NAMES[:3], (1,), 30)
    plan = make_plan(study, 3)
    value = noisy(RATIOS)
    system_of = {visit.visit: visit.system for visit in plan.visits}

    def haunted(trial: object) -> float:
        visit = trial.visit  # type: ignore[attr-defined]
        left = 1.5 if system_of.get(visit - 1) == "b" else 1.0
        return (value(trial) or 1.0) * left  # type: ignore[arg-type]

    findings = judge_study(study, plan, measured(plan, haunted), run="r")
    withheld = [v for v in findings.workloads[0].verdicts if v.withheld and not v.exploratory]
    told = {p.system: (p.best, p.worst) for p in findings.workloads[0].rankings[0].places}
    assert withheld
    assert all(told[v.other] == (1, 3) for v in withheld)


def test_two_systems_have_no_ranking() -> None:
    study = a_study()
    plan = make_plan(study, 3)
    assert judge_study(study, plan, measured(plan, noisy(0.8)), run="r").workloads[0].rankings == ()


def test_with_all_pairs_there_is_a_ranking_at_every_condition_too() -> None:
    study = a_study(NAMES[:3], (1, 4), 10, judge={"contrasts": "all pairs"})
    plan = make_plan(study, 3)
    findings = judge_study(study, plan, measured(plan, noisy(RATIOS)), run="r")
    assert [r.conditions for r in findings.workloads[0].rankings] == [None, *plan.conditions]


def test_what_a_third_system_carries_over_withholds_the_verdict_on_the_other_two() -> None:
    study = a_study(NAMES[:3], (1,), 30)
    plan = make_plan(study, 3)
    value = noisy({"b": 0.9}, 0.005)
    before = {v.visit: plan.visits[v.visit - 2].system for v in plan.visits[1:]}

    def haunted(trial: PlannedTrial) -> float:
        return (value(trial) or 1.0) * (1.2 if before.get(trial.visit) == "c" else 1.0)

    found = judge_study(study, plan, measured(plan, haunted), run="r")
    of_b = next(v for v in found.workloads[0].verdicts if v.other == "b")
    assert isinstance(of_b.withheld, CarryOverFound)


def test_a_system_that_was_given_up_holds_no_one_in_the_elimination() -> None:
    """``c`` equals the baseline but for failing always: nothing else keeps the baseline there."""
    study = a_study(NAMES, (1,), 60)
    plan = make_plan(study, 3)
    fails = {visit.visit for visit in plan.visits if visit.system == "c"}
    kept = measured(plan, noisy(RATIOS))
    records = [failed(r) if r.visit in fails else r for r in kept]
    assert "a" in remaining_systems(study, plan, records, 30)
    assert remaining_systems(study, plan, records, 30, frozenset({"c"})) == frozenset()
    assert not look(study, plan, records).decided
    assert look(study, plan, records, frozenset({"c"})).decided


def test_the_findings_name_a_system_that_was_given_up() -> None:
    study = a_study(NAMES, (1,), 60)
    plan = make_plan(study, 3)
    died = CommonestFailure(trials=3, outcome=Outcome.SERVICE_DIED, message="it ended")
    reason = FutilityReason(failed_visits=(3, 7, 9), trials=3, commonest=died)
    event = SystemStopped(system="c", reason=reason)
    found = judge_study(study, plan, measured(plan, noisy(RATIOS), 24), run="one", events=[event])
    (stopped,) = [each for each in found.caveats if isinstance(each, SystemFutility)]
    assert stopped == SystemFutility(system="c", reason=reason, others_continued=True)


def failed(record: TrialRecord) -> TrialRecord:
    return record.model_copy(update={"outcome": Outcome.SERVICE_DIED, "responses": {}})
