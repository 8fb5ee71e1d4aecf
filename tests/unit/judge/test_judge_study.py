"""Records to findings: whole studies with simulated responses."""

from __future__ import annotations

import math

import pytest
from tests.unit.judge.quick import EFFORT, judge_study, look
from tests.unit.judge.studies import LOST, Value, a_study, kinds, measured, noisy

from steelyard.errors import AnalysisError
from steelyard.inference.sequential import Memory, VerdictWord
from steelyard.judge.comparisons.families import Family
from steelyard.judge.findings import RunFindings, VerdictFinding
from steelyard.judge.kinds.verdict_notes import (
    CarryOverFound,
    EffectChanges,
    FailedAttemptsDecide,
    NoVariation,
    SpreadsDiffer,
    TooFewVisits,
    ValueUnusable,
)
from steelyard.judge.visits.series import Effort
from steelyard.plan import design
from steelyard.plan.make import make_plan
from steelyard.plan.model import PlannedTrial
from steelyard.records.schema import AttemptFailure, Measured, Outcome
from steelyard.report.sentences.assumptions import resting_lines
from steelyard.report.view import views
from steelyard.study.model import Study
from steelyard.units import format_duration


def judged(study: Study, value: Value, visits: int = 999) -> RunFindings:
    plan = make_plan(study, 3)
    return judge_study(study, plan, measured(plan, value, visits), run="r")


def overall(findings: RunFindings, response: str = "rate") -> VerdictFinding:
    return next(
        v for v in findings.workloads[0].verdicts if v.response == response and v.conditions is None
    )


def test_a_slower_system_is_slower_with_its_ratio_and_interval() -> None:
    verdict = overall(judged(a_study(), noisy(0.8)))
    assert verdict.word is VerdictWord.SLOWER
    assert verdict.estimate_log == pytest.approx(math.log(0.8), abs=0.01)
    assert verdict.low_log is not None
    assert verdict.high_log is not None
    assert verdict.low_log < math.log(0.8) < verdict.high_log < 0


def test_where_lower_is_better_the_ratio_is_that_of_the_raw_response() -> None:
    verdict = overall(judged(a_study(), noisy(0.8)), "p99")
    assert verdict.word is VerdictWord.SLOWER
    assert verdict.estimate_log == pytest.approx(-math.log(0.8), abs=0.01)
    assert verdict.low_log is not None
    assert verdict.high_log is not None
    assert 0 < verdict.low_log < verdict.high_log


def test_equal_systems_are_equivalent_and_the_interval_lies_within_the_margin() -> None:
    verdict = overall(judged(a_study(per_cell=30), noisy(1.0, noise=0.006)))
    assert verdict.word is VerdictWord.EQUIVALENT
    assert verdict.equivalence_low_log is not None
    assert verdict.equivalence_high_log is not None
    margin = verdict.margin_log
    assert -margin <= verdict.equivalence_low_log < verdict.equivalence_high_log <= margin


def test_conditions_share_the_error_rate_and_the_family_says_so() -> None:
    findings = judged(a_study(), noisy(0.8))
    at_four = next(v for v in findings.workloads[0].verdicts if v.conditions == {"load.users": 4})
    assert at_four.interval_level == pytest.approx(0.975)
    assert at_four.alpha == 0.05
    assert at_four.family == Family(
        response="throughput", scope="conditions", places=2, baseline="fast"
    )


def test_other_responses_are_exploratory_and_stop_nothing() -> None:
    findings = judged(a_study(), noisy(0.8))
    assert {v.response for v in findings.workloads[0].verdicts if v.exploratory} == {"p99"}


def test_fewer_than_eight_visits_say_so_and_give_no_interval() -> None:
    verdict = overall(judged(a_study(), noisy(0.2), visits=7))
    assert verdict.word is VerdictWord.UNDECIDED
    assert verdict.low_log is None
    assert verdict.notes[0] == TooFewVisits(visits=7, needed=8)


@pytest.mark.parametrize(("bad", "why"), [(0.0, ("zero", None)), (None, ("missing", LOST))])
def test_without_a_ratio_nothing_is_judged_and_the_note_says_why(
    bad: float | None, why: tuple[str, object]
) -> None:
    value = noisy(0.8)
    verdict = overall(
        judged(a_study(), lambda t: bad if t.visit == 2 and t.trial % 2 else value(t))
    )
    assert verdict.word is VerdictWord.NOT_JUDGED
    assert verdict.estimate_log is None
    (unusable,) = verdict.not_judged
    assert isinstance(unusable, ValueUnusable)
    assert (unusable.value, unusable.reason) == why
    assert unusable.trials == 1


def test_a_failed_visit_is_left_out_and_the_rest_is_judged() -> None:
    study = a_study()
    plan = make_plan(study, 3)
    records = [
        r.model_copy(
            update={
                "outcome": Outcome.TIMED_OUT,
                "failure": AttemptFailure(phase="measure", message="late"),
                "responses": {},
            }
        )
        if r.visit == 4
        else r
        for r in measured(plan, noisy(0.8))
    ]
    verdict = overall(judge_study(study, plan, records, run="r"))
    assert verdict.word is VerdictWord.SLOWER
    assert verdict.n_baseline + verdict.n_other == len(plan.visits) - 1


def test_an_attempt_that_succeeded_counts_and_the_failed_one_before_is_shown() -> None:
    study = a_study()
    plan = make_plan(study, 3)
    records = measured(plan, noisy(0.8))
    failed = records[0].model_copy(update={"outcome": Outcome.INVALID, "responses": {}})
    findings = judge_study(
        study, plan, [failed, records[0].model_copy(update={"attempt": 2}), *records[1:]], run="r"
    )
    assert overall(findings) == overall(judge_study(study, plan, records, run="r"))
    assert [a.outcome for a in findings.attempts[:2]] == ["invalid", "ok"]


def test_a_verdict_that_hangs_on_the_failed_attempts_is_withheld() -> None:
    study = a_study(users=(1,))
    plan = make_plan(study, 3)
    records = measured(plan, noisy(0.9), visits=12)
    opposite = [
        r.model_copy(
            update={
                "outcome": Outcome.TIMED_OUT,
                "attempt": 2,
                "responses": {"rate": Measured(value=1e6 / (r.value("rate") or 1), unit="1/s")},
            }
        )
        for r in records
    ]
    assert overall(judge_study(study, plan, records, run="r")).word is VerdictWord.SLOWER
    verdict = overall(judge_study(study, plan, [*records, *opposite], run="r"))
    assert verdict.word is VerdictWord.UNDECIDED
    assert verdict.withheld == FailedAttemptsDecide()


def test_a_reset_that_leaves_something_behind_withholds_the_verdict() -> None:
    study = a_study(users=(1,), per_cell=20)
    plan = make_plan(study, 3)
    system_of = {visit.visit: visit.system for visit in plan.visits}
    value = noisy(0.9)

    def haunted(trial: PlannedTrial) -> float:
        after_other = system_of.get(trial.visit - 1) == "durable"
        return (value(trial) or 1.0) * (1.1 if after_other else 1.0)

    verdict = overall(judge_study(study, plan, measured(plan, haunted), run="r"))
    assert verdict.word is VerdictWord.UNDECIDED
    assert isinstance(verdict.withheld, CarryOverFound)


def test_carry_over_that_shows_after_the_decision_is_noted_once() -> None:
    study = a_study(users=(1,), per_cell=20)
    plan = make_plan(study, 3)
    system_of = {visit.visit: visit.system for visit in plan.visits}
    value = noisy(0.5)

    def later(trial: PlannedTrial) -> float:
        is_felt = trial.visit > 16 and system_of.get(trial.visit - 1) == "durable"
        return (value(trial) or 1.0) * (1.4 if is_felt else 1.0)

    verdict = overall(judge_study(study, plan, measured(plan, later), run="r"))
    assert verdict.word is VerdictWord.SLOWER
    assert len([note for note in verdict.notes if isinstance(note, CarryOverFound)]) == 1


def test_arms_of_unequal_spread_are_marked() -> None:
    quiet, loud = noisy(0.8, noise=0.01), noisy(0.8, noise=0.08)
    verdict = overall(
        judged(a_study(), lambda t: (loud if t.cell.system == "durable" else quiet)(t))
    )
    assert verdict.spread_ratio is not None
    assert verdict.spread_ratio > 2
    (note,) = [each for each in verdict.notes if isinstance(each, SpreadsDiffer)]
    assert note.wider == "durable"


def test_an_arm_that_never_varies_is_reported_and_divides_nothing_by_zero() -> None:
    varying = noisy(1.0)

    def coarse(trial: PlannedTrial) -> float | None:
        return 80.0 if trial.cell.system == "durable" else varying(trial)

    verdict = overall(judged(a_study(), coarse))
    assert verdict.spread_ratio is None
    assert "one_constant" in kinds(verdict)


def test_a_response_that_never_varies_within_the_systems_is_not_judged() -> None:
    verdict = overall(judged(a_study(), lambda t: 80.0 if t.cell.system == "durable" else 90.0))
    assert verdict.word is VerdictWord.NOT_JUDGED
    assert verdict.not_judged == (NoVariation(),)


def test_an_effect_that_turns_after_the_decision_stands_beside_the_word() -> None:
    study = a_study(users=(1,), per_cell=20)
    plan = make_plan(study, 3)
    quiet = noisy(1.0, noise=0.005)

    def turning(trial: PlannedTrial) -> float:
        effect = 0.06 if trial.visit <= 14 else -0.06
        sign = effect if trial.cell.system == "durable" else 0.0
        return (quiet(trial) or 1.0) * math.exp(sign)

    verdict = overall(judge_study(study, plan, measured(plan, turning), run="r"))
    assert verdict.word is not VerdictWord.UNDECIDED
    assert any(isinstance(note, EffectChanges) for note in verdict.notes)


def test_several_systems_are_each_compared_with_the_baseline() -> None:
    study = a_study(names=("a", "b", "c"), users=(1,), per_cell=20)
    findings = judged(study, noisy({"c": 0.7}))
    words = {v.other: v.word for v in findings.workloads[0].verdicts if v.response == "rate"}
    assert words["c"] is VerdictWord.SLOWER
    assert words["b"] is not VerdictWord.SLOWER
    assert {v.interval_level for v in findings.workloads[0].verdicts if not v.exploratory} == {
        0.975
    }


def test_a_study_is_decided_when_every_condition_is() -> None:
    study = a_study()
    plan = make_plan(study, 3)
    records = measured(plan, noisy(0.8))
    stands = look(study, plan, records)
    assert stands.decided
    assert not stands.may_continue
    at = [each.conditions for each in stands.words]
    assert at == [None, {"load.users": 1}, {"load.users": 4}]


def test_a_study_that_asks_for_the_overall_verdict_stops_with_it() -> None:
    at_four = noisy(1.0, noise=0.05)
    value = noisy(0.8)

    def mixed(trial: PlannedTrial) -> float | None:
        return (at_four if trial.cell.conditions["load.users"] == 4 else value)(trial)

    every, once = a_study(), a_study(until="overall")
    plan = make_plan(every, 3)
    records = measured(plan, mixed, visits=20)
    assert not look(every, plan, records).decided
    assert look(once, plan, records).decided


def test_the_look_and_the_findings_say_the_same() -> None:
    study = a_study()
    plan = make_plan(study, 3)
    records = measured(plan, noisy(0.985, noise=0.02), visits=15)
    findings = judge_study(study, plan, records, run="r")
    of_findings = [v.word for v in findings.workloads[0].verdicts if v.response == "rate"]
    assert [each.word for each in look(study, plan, records).words] == of_findings


def test_asking_after_every_visit_says_what_asking_once_says() -> None:
    study = a_study()
    plan = make_plan(study, 3)
    records = measured(plan, noisy(0.985, noise=0.02), visits=16)
    session = Effort(EFFORT.paths, Memory())
    for visits in range(1, 16):
        look(study, plan, records[: 2 * visits], effort=session)
    assert look(study, plan, records) == look(study, plan, records, effort=session)


def test_a_changed_value_is_never_answered_from_memory() -> None:
    study = a_study(users=(1,))
    plan = make_plan(study, 3)
    records = measured(plan, noisy(0.8), visits=12)
    session = Effort(EFFORT.paths, Memory())
    assert look(study, plan, records, effort=session).decided
    equal = measured(plan, noisy(1.0, noise=0.05), visits=12)
    assert not look(study, plan, equal, effort=session).decided


def test_an_undecided_study_with_visits_left_may_continue_and_has_a_forecast() -> None:
    study = a_study(per_cell=40)
    plan = make_plan(study, 3)
    stands = look(study, plan, measured(plan, noisy(0.995, noise=0.03), visits=20))
    assert not stands.decided
    assert stands.may_continue
    assert stands.visits_to_decide is not None


def test_the_same_records_give_the_same_findings_in_any_order() -> None:
    study = a_study()
    plan = make_plan(study, 3)
    records = measured(plan, noisy(0.9))
    once = judge_study(study, plan, records, run="r")
    assert judge_study(study, plan, records[::-1], run="r") == once


def test_records_of_a_changed_study_are_refused() -> None:
    study = a_study()
    plan = make_plan(study, 3)
    with pytest.raises(AnalysisError):
        look(study.model_copy(update={"sha256": "1" * 64}), plan, [])


def test_a_visit_of_each_system_shows_no_lack_of_variation() -> None:
    findings = judged(a_study(), noisy(0.9), visits=2)
    (verdict, *_) = findings.workloads[0].verdicts
    assert verdict.word is VerdictWord.UNDECIDED
    assert verdict.notes[0] == TooFewVisits(visits=2, needed=8)


def test_a_study_without_records_is_open_and_undecided() -> None:
    findings = judged(a_study(), noisy(1.0), visits=0)
    assert findings.stop.reason == "open"
    assert {v.word for v in findings.workloads[0].verdicts} == {VerdictWord.UNDECIDED}


def test_an_earlier_run_in_pairs_by_a_removed_engine_is_judged_as_any_other_and_says_so() -> None:
    study = a_study(users=(4,), judge={"engine": "normal"})
    drawn = make_plan(study, 7)
    assigned = design.assignment(7, drawn.systems, "pairs", len(drawn.assignment))
    visits = design.visits(7, assigned, 2, drawn.conditions)[: len(drawn.visits)]
    plan = drawn.model_copy(update={"design": "pairs", "assignment": assigned, "visits": visits})
    findings = judge_study(study, plan, measured(plan, noisy(1.2)), run="r")
    assert overall(findings).word is VerdictWord.FASTER
    told = {each.kind for each in findings.workloads[0].caveats}
    assert {"engine_removed", "error_rate_by_randomisation"} <= told
    assert "engine_removed" not in {
        each.kind for each in judged(a_study(), noisy(1.2)).workloads[0].caveats
    }


def test_a_verdict_says_within_which_time_its_visits_lie() -> None:
    study = a_study(users=(1,), per_cell=24)
    plan = make_plan(study, 3)
    records = measured(plan, noisy(0.5))
    found = judge_study(study, plan, records, run="r")
    verdict = found.workloads[0].verdicts[0]
    decided = [r for r in records if r.visit <= (verdict.decided_at_visit or 0)]
    assert len(decided) < len(records)
    assert verdict.span_s == (decided[-1].finished_unix_ns - decided[0].started_unix_ns) / 1e9
    told = [line for line in resting_lines(views(found)[0]) if line.startswith("These visits lie")]
    time = format_duration(verdict.span_s)
    assert told == [f"These visits lie within {time}; the verdicts are about that time."]
