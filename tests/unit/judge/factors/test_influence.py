"""From a study text to what is said of its factors, with simulated trials."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
import pytest
from tests.unit.judge.quick import judge_study, look

from steelyard.judge.analyses.factors.findings import (
    EffectWord,
    InfluenceFinding,
    ReplicatesLeftOut,
)
from steelyard.judge.findings import RunFindings
from steelyard.plan.make import make_plan
from steelyard.plan.model import Plan, PlannedTrial
from steelyard.records.schema import AttemptFailure, Measured, Outcome, TrialRecord
from steelyard.report.formats.csv import csv_text
from steelyard.report.formats.html import render
from steelyard.report.formats.markdown import markdown_text
from steelyard.report.sentences.terminal.interim import progress_words
from steelyard.study.labels import Labels
from steelyard.study.model import Study
from steelyard.study.read import read_study_bytes

HEAD = """
study: factors
question: Which settings matter?
workload: {use: http}
responses: {throughput: {primary: true}}
"""
SCREEN = (
    HEAD
    + """
systems:
  server: {platform: native, service: {use: sink-http}}
screen:
  system: server
  factors:
    load.users: [1, 8]
    workload.keep_alive: [true, false]
    service.body: [1 KiB, 64 KiB]
trials: {margin: 5 %, window: 1 s, budget: {trials: 6 per cell}}
"""
)
COMPARISON = (
    HEAD
    + """
systems:
  one: {platform: native, service: {use: sink-http}}
  two: {platform: native, service: {use: sink-http, threads: 2}}
ask: influence
factors: {load.users: [1, 8], workload.keep_alive: [true, false]}
trials: {margin: 5 %, window: 1 s, budget: {trials: 16 per cell}}
"""
)
Law = Callable[[PlannedTrial], float]


def a_study(text: str) -> Study:
    return read_study_bytes(text.encode(), Path("study.yaml"))


def measured(
    study: Study, plan: Plan, law: Law, sd: float = 0.01, visit_sd: float = 0.0
) -> list[TrialRecord]:
    """Trials by a law; replicates of a screening differ as wholes."""
    rng = np.random.default_rng(4)
    records = []
    for visit in plan.every_visit:
        block = 0.2 * visit.block % 0.37 if visit.visit > len(plan.visits) else 0.0
        of_visit = rng.normal(0, visit_sd) + block
        for trial in visit.trials:
            log = law(trial) + rng.normal(0, sd) + of_visit
            records.append(a_record(trial, 1000 * math.exp(log)))
    return records


def a_record(trial: PlannedTrial, value: float | None) -> TrialRecord:
    good = value is not None
    return TrialRecord(
        trial=trial.trial,
        attempt=1,
        visit=trial.visit,
        cell=trial.cell,
        outcome=Outcome.OK if good else Outcome.SERVICE_DIED,
        failure=None if good else AttemptFailure(phase="window", message="died", hint="look"),
        started_unix_ns=trial.trial * 10**9,
        finished_unix_ns=(trial.trial + 1) * 10**9,
        phases_ns={"window": 10**9},
        responses={"throughput": Measured(value=value, unit="requests/s")} if good else {},
        facts={},
    )


def users_and_keep_alive(trial: PlannedTrial) -> float:
    """Twice as much by 8 users, 30 % less without keep-alive, and half of that with 8 users."""
    levels = trial.cell.conditions
    many, anew = levels["load.users"] == 8, levels["workload.keep_alive"] is False
    return math.log(2) * many + math.log(0.7) * anew - 0.15 * (many and anew)


def words(found: InfluenceFinding) -> dict[tuple[str, ...], EffectWord]:
    return {each.factors: each.word for each in found.effects}


def screened(text: str = SCREEN) -> tuple[Study, Plan, RunFindings]:
    study = a_study(text)
    plan = make_plan(study, seed=3)
    records = measured(study, plan, users_and_keep_alive)
    return study, plan, judge_study(study, plan, records, run="r")


def test_a_screening_names_what_matters_and_what_does_not() -> None:
    _, _, findings = screened()
    (found,) = findings.workloads[0].influence
    assert findings.workloads[0].verdicts == ()
    assert found.settled
    there = {each.factors for each in found.effects if each.word is EffectWord.INFLUENTIAL}
    assert there == {
        ("load.users",),
        ("workload.keep_alive",),
        ("load.users", "workload.keep_alive"),
    }
    assert words(found)["service.body",] is EffectWord.NEGLIGIBLE


def test_an_effect_and_the_means_behind_an_interaction_are_those_that_were_put_in() -> None:
    _, _, findings = screened()
    (found,) = findings.workloads[0].influence
    users = next(each for each in found.effects if each.factors == ("load.users",))
    assert users.low_log is not None
    assert users.high_log is not None
    assert users.low_log < math.log(2) - 0.075 < users.high_log
    assert (users.levels, users.against) == ((8,), (1,))
    pair = next(p for p in found.pairs if p.factors == ("load.users", "workload.keep_alive"))
    one, _ = pair.means
    assert one[0] is not None
    assert one[1] is not None
    assert one[1] / one[0] == pytest.approx(0.7, rel=0.03)


def test_the_answer_is_a_sentence_with_shares_and_says_what_has_no_effect() -> None:
    _, _, findings = screened()
    text = markdown_text(findings).replace("\\_", "_")
    assert "load.users explains" in text
    assert "of the variation in throughput" in text
    assert "no effect above 5 %: service.body" in text
    assert "their interaction" in text
    assert "8 instead of 1" in text
    assert "at workload.keep_alive true" in text
    assert "Error rate 5 % for all 7 effects on server together" in text
    assert "Hodges" not in text


def test_the_report_has_the_section_in_every_form() -> None:
    _, _, findings = screened()
    assert "Which parameters matter" in render(findings)
    assert "## Which parameters matter" in markdown_text(findings)
    rows = list(csv.DictReader(io.StringIO(csv_text(findings))))
    kinds = {row["kind"] for row in rows}
    assert {"effect", "share", "pair", "cell", "value"} <= kinds
    assert {row["condition.load.users"] for row in rows if row["kind"] == "cell"} == {"1", "8"}
    assert RunFindings.model_validate_json(findings.model_dump_json()) == findings


def test_the_run_goes_on_until_no_effect_is_open() -> None:
    study = a_study(SCREEN)
    plan = make_plan(study, seed=3)
    records = measured(study, plan, users_and_keep_alive)
    assert plan.screen is not None
    of_visit = {visit.visit: visit.block for visit in plan.every_visit}
    after = {
        n: look(study, plan, [r for r in records if of_visit[r.visit] <= n]) for n in (1, 2, 3)
    }
    assert not after[1].decided
    assert not after[2].decided  # shares need three replicates
    assert after[3].decided
    assert after[3].settled == frozenset(of_visit)
    told = progress_words(after[1], Labels.of(study))
    assert told.startswith("replicate 1 of 6: 0 effects, 0 negligible, 7 open")


def test_a_replicate_that_misses_a_cell_is_left_out_and_said() -> None:
    study = a_study(SCREEN)
    plan = make_plan(study, seed=3)
    records = measured(study, plan, users_and_keep_alive)
    records[3] = a_record(plan.every_visit[0].trials[3], None)
    (found,) = judge_study(study, plan, records, run="r").workloads[0].influence
    assert (found.replicates, found.replicates_left_out) == (5, 1)
    assert ReplicatesLeftOut(replicates=1) in found.notes


def test_a_zero_is_not_judged() -> None:
    study = a_study(SCREEN)
    plan = make_plan(study, seed=3)
    records = measured(study, plan, users_and_keep_alive)
    records[3] = a_record(plan.every_visit[0].trials[3], 0.0)
    findings = judge_study(study, plan, records, run="r")
    (found,) = findings.workloads[0].influence
    assert set(words(found).values()) == {EffectWord.NOT_JUDGED}
    assert found.shares == ()
    assert "is zero" in markdown_text(findings)


def test_the_same_records_give_the_same_findings() -> None:
    assert screened()[2] == screened()[2]


def test_all_factors_of_a_comparison_are_asked_and_visits_are_the_unit_of_what_is_compared() -> (
    None
):
    study = a_study(COMPARISON)
    plan = make_plan(study, seed=3)

    def law(trial: PlannedTrial) -> float:
        return users_and_keep_alive(trial) + 0.3 * (trial.cell.system == "two")

    findings = judge_study(study, plan, measured(study, plan, law, visit_sd=0.05), run="r")
    (found,) = findings.workloads[0].influence
    system = next(each for each in found.effects if each.factors == ("system",))
    users = next(each for each in found.effects if each.factors == ("load.users",))
    assert found.factors["system"] == ("one", "two")
    assert (system.unit, users.unit) == ("visit", "trial")
    assert (system.word, users.word) == (EffectWord.INFLUENTIAL, EffectWord.INFLUENTIAL)
    assert found.visit_noise_log == pytest.approx(0.05, rel=0.5)
    assert findings.workloads[0].verdicts


def hard_to_change(names: Iterable[str]) -> str:
    listed = ", ".join(names)
    return SCREEN.replace("  factors:", f"  hard_to_change: [{listed}]\n  factors:")


def test_what_is_hard_to_change_keeps_its_level_within_a_visit() -> None:
    plan = make_plan(a_study(hard_to_change(["service.body"])), seed=3)
    assert plan.screen is not None
    assert len(plan.screen.visits) == 2 * plan.screen.replicates
    for visit in plan.screen.visits:
        assert len({trial.cell.conditions["service.body"] for trial in visit.trials}) == 1
        assert len(visit.trials) == 4


def test_several_levels_of_one_system_are_asked_of_without_a_comparison() -> None:
    text = (
        HEAD
        + """
systems: {server: {platform: native, service: {use: sink-http}}}
ask: influence
factors: {load.users: [1, 4, 8], workload.keep_alive: [true, false]}
trials: {margin: 5 %, window: 1 s, budget: {trials: 6 per cell}}
"""
    )
    study, plan, findings = screened(text)
    (found,) = findings.workloads[0].influence
    assert plan.systems == ("server",)
    assert [e.levels for e in found.effects if e.factors == ("load.users",)] == [(4,), (8,)]
    assert study.ask == "influence"


def test_a_comparison_that_also_screens_does_both_in_turn() -> None:
    text = COMPARISON.replace("ask: influence\n", "") + (
        "screen: {system: two, factors: {load.users: [1, 8], service.body: [1 KiB, 64 KiB]}}\n"
    )
    study = a_study(text)
    plan = make_plan(study, seed=3)
    assert plan.screen is not None
    numbers = [visit.visit for visit in plan.every_visit]
    assert numbers == list(range(1, len(numbers) + 1))
    assert {trial.cell.system for v in plan.screen.visits for trial in v.trials} == {"two"}
    records = measured(study, plan, users_and_keep_alive)
    only = [r for r in records if r.visit <= len(plan.visits)]
    seen = look(study, plan, only)
    assert seen.settled == frozenset(visit.visit for visit in plan.visits)
    assert not seen.decided
    findings = judge_study(study, plan, records, run="r")
    assert findings.workloads[0].verdicts
    assert findings.workloads[0].influence[0].system == "two"
