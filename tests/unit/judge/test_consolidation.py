"""What is said of several instances at once against one alone."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest
from scipy.stats import binom
from tests.unit.judge.quick import judge_study
from tests.unit.judge.studies import RESPONSES, a_record, a_study

from steelyard.inference.sequential import VerdictWord
from steelyard.judge.analyses.consolidation.evenness import (
    chance_of_none,
    fairness,
    holm,
    jain,
    mean_of,
    worst_over_best,
)
from steelyard.judge.analyses.consolidation.findings import (
    ConsolidationFinding,
    InstancesApart,
    NoGuestKernel,
    NoVisitWithBoth,
)
from steelyard.judge.findings import RunFindings
from steelyard.plan.make import make_plan
from steelyard.plan.model import PlannedTrial
from steelyard.records.schema import InstanceRecord, Measured, TrialRecord
from steelyard.records.warnings import TrialWarning, WarningKind
from steelyard.report.formats.csv import csv_text
from steelyard.report.formats.html import render
from steelyard.report.formats.markdown import markdown_text
from steelyard.report.sentences.consolidation import consolidation_lines
from steelyard.report.view import views
from steelyard.study.model import JudgeSpec, ResponseSpec, Study, WorkloadSpec

KEEPS = {"fast": 0.9, "durable": 0.6}
SLOTS = (1.0, 1.0, 0.9)


def consolidating(**changes: object) -> Study:
    cpu = {
        name: ResponseSpec(name=name, label=name, unit="cores", direction="lower")
        for name in ("system.cpu", "host.instance_cpu")
    }
    study = a_study(users=(1,), per_cell=10, responses={"rate": RESPONSES["rate"], **cpu})
    return study.model_copy(
        update={
            "factors": {"system.instances": (1, 3)},
            "judge": JudgeSpec(consolidation=True),
            **changes,
        }
    )


def record_of(
    trial: PlannedTrial, random: np.random.Generator, *, beside: bool, host: str = "b"
) -> TrialRecord:
    """Each of several keeps a share of one alone; slot 3 a tenth less. Noise of 2 %."""
    count = int(trial.cell.conditions["system.instances"])
    measured = 1 if beside else count
    keeps = 1.0 if count == 1 else KEEPS[trial.cell.system]
    rates = [
        1000 * keeps * (SLOTS[place] if count > 1 else 1.0) * float(np.exp(random.normal(0, 0.02)))
        for place in range(measured)
    ]
    instances = tuple(
        InstanceRecord(
            instance=place + 1,
            workload="smtp",
            responses={
                "rate": Measured(value=rate, unit="1/s"),
                "system.cpu": Measured(value=0.5, unit="cores"),
                "host.instance_cpu": Measured(value=0.6, unit="cores"),
            },
        )
        for place, rate in enumerate(rates)
    )
    idle = InstanceRecord(instance=3, workload="ram")
    return a_record(
        trial,
        sum(rates),
        responses={"rate": Measured(value=sum(rates), unit="1/s")},
        instances=(*instances, idle) if beside and count > 1 else instances,
        facts={"system": {"boot_id": "a"}, "host": {"boot_id": host}},
    )


@cache
def findings(*, beside: bool = False, asked: bool = True) -> RunFindings:
    changes: dict[str, object] = {} if asked else {"judge": JudgeSpec()}
    if beside:
        changes["background"] = {3: WorkloadSpec(use="ram")}
    study, random = consolidating(**changes), np.random.default_rng(7)
    plan = make_plan(study, 3)
    trials = (trial for visit in plan.visits for trial in visit.trials)
    records = [record_of(trial, random, beside=beside) for trial in trials]
    return judge_study(study, plan, records, run="r")


def of(system: str, found: RunFindings) -> ConsolidationFinding:
    return next(each for each in found.workloads[0].consolidation if each.system == system)


def test_the_sum_scale_and_density_are_those_of_the_visits() -> None:
    fast = of("fast", findings())
    assert fast.instances == 3
    assert fast.visits == 9  # what the coin gives fast of twenty
    assert fast.total == pytest.approx(2610, rel=0.02)
    assert fast.scale is not None
    assert fast.density is not None
    assert fast.scale.log - fast.density.log == pytest.approx(math.log(3))
    assert fast.density.low_log is not None
    assert fast.density.high_log is not None
    assert fast.density.low_log < math.log(0.9 * 2.9 / 3) < fast.density.high_log


def test_the_slowest_and_each_slowdown_are_reported() -> None:
    fast = of("fast", findings())
    assert fast.least is not None
    assert fast.least.log < math.log(0.84)
    slower = [math.exp(each.slowdown.log) for each in fast.slowdowns]
    assert slower == pytest.approx([1 / 0.9, 1 / 0.9, 1 / 0.81], rel=0.03)


def test_a_slot_that_gets_less_shows_in_the_range_and_hardly_in_fairness() -> None:
    fast = of("fast", findings())
    assert fast.worst_over_best is not None
    assert fast.worst_over_best.high_log is not None
    assert fast.worst_over_best.high_log < 0
    assert fast.fairness is not None
    assert 0.99 < fast.fairness < 1


def test_what_the_host_spends_is_held_against_what_is_busy_inside() -> None:
    overhead = of("fast", findings()).cpu_overhead
    assert overhead is not None
    assert overhead.log == pytest.approx(math.log(1.2))


def test_a_container_that_shares_the_kernel_has_no_processor_time_of_its_own() -> None:
    study, random = consolidating(), np.random.default_rng(7)
    plan = make_plan(study, 3)
    trials = (trial for visit in plan.visits for trial in visit.trials)
    records = [record_of(trial, random, beside=False, host="a") for trial in trials]
    fast = of("fast", judge_study(study, plan, records, run="r"))
    assert fast.cpu_overhead is None
    assert fast.missing[-1] == NoGuestKernel()


def test_systems_are_compared_on_density_by_random_assignment() -> None:
    (verdict,) = findings().workloads[0].densities
    assert verdict.word is VerdictWord.SLOWER
    assert verdict.exploratory
    assert verdict.estimate_log == pytest.approx(math.log(0.6 / 0.9), abs=0.03)
    assert verdict.conditions == {"system.instances": 3}


def test_what_runs_beside_disturbs_or_does_not_with_one_error_rate_for_all() -> None:
    found = of("durable", findings(beside=True))
    assert found.interference is not None
    assert found.interference.word == "disturbed"
    assert found.interference.background == ("ram",)
    assert found.interference.change.log == pytest.approx(math.log(0.6), abs=0.03)
    assert found.fairness is None
    assert len(found.slowdowns) == 1


def test_without_being_asked_nothing_is_said() -> None:
    assert findings(asked=False).workloads[0].consolidation == ()
    assert findings(asked=False).workloads[0].densities == ()
    assert "Several at once" not in markdown_text(findings(asked=False))


def test_visits_in_which_one_worked_without_the_others_are_counted_and_said() -> None:
    study, random = consolidating(), np.random.default_rng(7)
    plan = make_plan(study, 3)
    trials = (trial for visit in plan.visits for trial in visit.trials)
    records = [record_of(trial, random, beside=False) for trial in trials]
    apart = TrialWarning(
        kind=WarningKind.INSTANCES_APART, figures={"together_ns": 1, "longest_ns": 2}
    )
    fast = [
        each.trial
        for each in records
        if each.cell.system == "fast" and each.cell.conditions["system.instances"] == 3
    ]
    records = [
        each.model_copy(update={"warnings": (apart,)}) if each.trial in fast[:2] else each
        for each in records
    ]
    found = judge_study(study, plan, records, run="r")
    assert of("fast", found).missing == (InstancesApart(visits=2, of=9),)
    assert InstancesApart not in {type(each) for each in of("durable", found).missing}
    said = consolidation_lines(views(found)[0])
    assert ["2 of 9 visits" in line for line in said[:2]] == [True, False]


def test_no_visit_with_both_says_so_instead_of_a_number() -> None:
    study = consolidating()
    found = judge_study(study, make_plan(study, 3), [], run="r")
    fast = of("fast", found)
    assert fast.total is None
    assert fast.missing[0] == NoVisitWithBoth()
    assert consolidation_lines(views(found)[0])[0].startswith(
        "3 instances of fast: no visit has both"
    )


def test_the_report_says_it_in_words_a_table_and_rows() -> None:
    lines = consolidation_lines(views(findings())[0])
    assert "3 instances of fast: together 2,6" in lines[0]
    assert " times one alone; each -1" in lines[0]
    assert "the host spends +20.0 % (95 % interval" in lines[0]
    assert any("density" in line and "durable" in line for line in lines)
    assert "## Several at once" in markdown_text(findings())
    assert csv_text(findings()).count("\nconsolidation,") == 2
    assert 'id="consolidation"' in render(findings())


def test_noise_alone_does_not_look_unfair() -> None:
    rates = np.exp(np.random.default_rng(1).normal(0, 0.05, (6, 4)))
    corrected = fairness(rates)
    assert corrected is not None
    assert corrected > 0.9995
    assert jain(rates[0]) < corrected


def test_one_that_has_all_is_as_unfair_as_can_be() -> None:
    assert jain(np.array([1.0, 0.0, 0.0, 0.0])) == pytest.approx(0.25)
    assert fairness(np.tile([4.0, 1e-9, 1e-9, 1e-9], (3, 1))) == pytest.approx(0.25)


def test_the_range_of_equal_instances_holds_none_in_95_percent() -> None:
    held, count = 0, 200
    for seed in range(count):
        rates = np.exp(np.random.default_rng(seed).normal(0, 0.05, (4, 3)))
        found = worst_over_best(rates)
        held += found is not None and found.high_log == 0.0
    assert held >= int(binom.ppf(0.001, count, 0.95))


def test_one_visit_has_no_interval() -> None:
    assert mean_of(np.array([0.1])).low_log is None
    assert fairness(np.ones((1, 3))) is None
    assert worst_over_best(np.ones((1, 3))) is None


def test_holm_rejects_step_by_step_and_stops_at_the_first_that_stays() -> None:
    assert holm([0.04, 0.01, 0.03], 0.05) == [False, True, False]
    assert holm([0.02, 0.01, 0.03], 0.05) == [True, True, True]


def test_a_small_change_is_shown_to_be_smaller_than_the_margin() -> None:
    logs = np.array([0.001, -0.001, 0.002, 0.0, -0.001])
    assert chance_of_none(logs, 0.02) < 0.001
    assert chance_of_none(logs) > 0.3
    assert chance_of_none(logs + 0.1, 0.02) > 0.99
