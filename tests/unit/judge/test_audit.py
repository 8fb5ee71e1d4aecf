"""Cells, differences, caveats: what stands beside the verdicts."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.unit.judge.quick import judge_study
from tests.unit.judge.test_judge_study import a_study, judged, measured, noisy

from steelyard.inference.assumptions.carry_over import carry_over
from steelyard.inference.assumptions.diagnostics import counts_differ, shape_of
from steelyard.judge.cells import median_interval
from steelyard.judge.kinds.caveats import (
    ConditionsMeasured,
    FailuresUnequal,
    GeneratorOnSameMachine,
)
from steelyard.judge.kinds.checks import CarryOverEffect
from steelyard.plan.make import make_plan
from steelyard.plan.model import PlannedTrial
from steelyard.records.schema import Outcome
from steelyard.report import notes
from steelyard.study.labels import Labels


def test_the_median_of_six_values_lies_between_the_extremes() -> None:
    assert median_interval([3, 1, 2, 6, 5, 4]) == (1, 6)


def test_five_values_bound_no_median() -> None:
    assert median_interval([1, 2, 3, 4, 5]) == (None, None)


def test_the_interval_of_a_median_holds_it_in_ninety_five_percent_of_samples() -> None:
    random = np.random.default_rng(1)
    held = 0
    for _ in range(1_000):
        low, high = median_interval(random.exponential(1.0, 20).tolist())
        assert low is not None
        assert high is not None
        held += low <= np.log(2) <= high
    assert held >= 940


def test_every_cell_lists_its_values_in_the_order_measured() -> None:
    findings = judged(a_study(), noisy(0.8))
    cell = findings.workloads[0].cells[0]
    assert cell.response == "p99"
    assert list(cell.trials) == sorted(cell.trials)
    assert len(cell.values) == len(cell.trials)


def test_a_declared_difference_is_distinguished_from_one_that_crept_in() -> None:
    study = a_study()
    plan = make_plan(study, 3)
    records = [
        r.model_copy(
            update={"facts": {"system": {**r.facts["system"], "kernel.governor": r.cell.system}}}
        )
        for r in measured(plan, noisy(0.8))
    ]
    differences = judge_study(study, plan, records, run="r").differences
    assert {d.fact: d.declared for d in differences} == {
        "service.sync": True,
        "kernel.governor": False,
    }


def test_a_fact_that_changes_in_every_trial_sets_no_systems_apart() -> None:
    study = a_study()
    plan = make_plan(study, 3)
    records = [
        r.model_copy(update={"facts": {"system": {"service.pid": str(r.trial)}}})
        for r in measured(plan, noisy(0.8))
    ]
    facts = {d.fact for d in judge_study(study, plan, records, run="r").differences}
    assert "service.pid" not in facts


def test_attempts_that_fail_on_one_system_only_void_the_guarantee() -> None:
    study = a_study()
    plan = make_plan(study, 3)
    records = measured(plan, noisy(0.8))
    failed = [
        r.model_copy(update={"outcome": Outcome.TIMED_OUT, "attempt": 2, "responses": {}})
        for r in records
        if r.cell.system == "durable"
    ]
    found = judge_study(study, plan, [*records, *failed], run="r").workloads[0].caveats
    (unequal,) = [each for each in found if isinstance(each, FailuresUnequal)]
    assert (unequal.other, unequal.failed_baseline, unequal.failed_other) == ("durable", 0, 24)


def test_the_caveats_name_machine_conditions_and_generator() -> None:
    found = judged(a_study(), noisy(0.8)).workloads[0].caveats
    assert found[0].kind == "one_machine"
    assert ConditionsMeasured(conditions=({"load.users": 1}, {"load.users": 4})) in found
    assert GeneratorOnSameMachine() in found


def test_overhead_is_the_time_outside_reset_warmup_and_window() -> None:
    attempt = judged(a_study(), noisy(0.8)).attempts[0]
    assert attempt.wall_s == 1.0
    assert attempt.overhead_s == pytest.approx(0.1)


def test_a_stall_on_one_side_only_is_counted() -> None:
    random = np.random.default_rng(2)
    other = np.arange(40) % 2 == 0
    values = random.normal(0, 0.02, 40)
    values[[0, 4, 8, 12, 16, 20, 24]] -= 0.5
    shape = shape_of(values, other)
    assert shape.stall_rate_other == pytest.approx(0.35)
    assert shape.stall_rate_baseline == 0
    assert shape.stalls_differ


def test_visits_that_are_worse_by_a_few_percent_do_not_stall() -> None:
    random = np.random.default_rng(2)
    other = np.arange(40) % 2 == 0
    values = random.normal(0, 0.002, 40)
    values[[0, 4, 8, 12, 16, 20, 24]] -= 0.02
    shape = shape_of(values, other)
    assert shape.stall_rate_other == 0
    assert not shape.stalls_differ


def test_of_seven_visits_it_is_not_known_whether_any_stalls() -> None:
    other = np.arange(14) % 2 == 0
    values = np.random.default_rng(2).normal(0, 0.002, 14)
    values[[0, 4, 8]] -= 0.5
    shape = shape_of(values, other)
    assert (shape.stall_rate_baseline, shape.stall_rate_other) == (None, None)
    assert shape.spread_ratio is not None


def test_small_arms_say_nothing_about_shape() -> None:
    shape = shape_of(np.zeros(6), np.arange(6) % 2 == 0)
    assert shape.spread_ratio is None
    assert not shape.stalls_differ


def test_equal_shares_do_not_differ_and_opposite_ones_do() -> None:
    assert not counts_differ((2, 20), (2, 20))
    assert counts_differ((0, 20), (10, 20))


def test_where_no_load_is_driven_nothing_is_said_of_a_load_from_the_same_machine() -> None:
    study = a_study()
    tool = study.workloads["smtp"].model_copy(update={"use": "dd"})
    found = judged(study.model_copy(update={"workloads": {"smtp": tool}}), noisy(0.8))
    assert GeneratorOnSameMachine() not in found.workloads[0].caveats


def test_carry_over_is_written_in_percent_of_the_response_and_not_of_its_logarithm() -> None:
    study = a_study(users=(1,), per_cell=20)
    plan = make_plan(study, 3)
    before = {visit.visit: visit.system for visit in plan.visits}
    value = noisy(1.0)

    def haunted(trial: PlannedTrial) -> float:
        after = before.get(trial.visit - 1) == "durable"
        return (value(trial) or 1.0) * (0.1 if after else 1.0)

    checks = judge_study(study, plan, measured(plan, haunted), run="r").workloads[0].diagnostics
    (found,) = [each for each in checks if isinstance(each, CarryOverEffect)]
    assert 0.09 < math.exp(found.low_log) < 0.10 < math.exp(found.high_log) < 0.11
    assert "% less" in notes.text(found, Labels())


def test_carry_over_finds_what_the_visit_before_leaves() -> None:
    random = np.random.default_rng(3)
    other = random.random(60) < 0.5
    values = random.normal(0, 0.01, 60) + 0.05 * np.r_[False, other[:-1]]
    found = carry_over(values, other, tuple(range(60)))
    assert found is not None
    assert found.low_log < 0.05 < found.high_log
    assert found.forbids(0.02)


@pytest.mark.parametrize("in_other", [False, True])
def test_carry_over_that_one_system_alone_feels_is_found_in_its_visits(in_other: bool) -> None:
    random = np.random.default_rng(3)
    other = random.random(60) < 0.5
    felt = (other == in_other) & np.r_[False, other[:-1]]
    found = carry_over(random.normal(0, 0.01, 60) + 0.05 * felt, other, tuple(range(60)))
    assert found is not None
    assert found.low_log < 0.05 < found.high_log
    assert found.forbids(0.02)
    assert found.in_other is in_other
    assert (found.after == felt).all()


def test_clean_visits_are_not_vetoed() -> None:
    random = np.random.default_rng(4)
    other = random.random(60) < 0.5
    found = carry_over(random.normal(0, 0.01, 60), other, tuple(range(60)))
    assert found is not None
    assert not found.forbids(0.02)


def test_too_few_visits_say_nothing_about_carry_over() -> None:
    assert carry_over(np.zeros(5), np.array([True, False] * 2 + [True]), tuple(range(5))) is None
