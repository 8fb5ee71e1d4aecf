"""The kernel of each visit as the covariate of a study."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from tests.unit.judge.quick import judge_study, look
from tests.unit.judge.studies import a_record, a_study

from steelyard.inference.noise.covariates import quick_parts
from steelyard.inference.noise.detrend import basis
from steelyard.judge.findings import RunFindings
from steelyard.judge.visits.reference_kernel import covariate_of, measured_before, parts_of
from steelyard.plan.make import make_plan
from steelyard.plan.model import Plan
from steelyard.records.missing import Reason
from steelyard.records.schema import Measured, Outcome, TrialRecord
from steelyard.study.model import Study

KERNEL = {"reference_kernel_s": 0.3}


def kernel_responses(**parts: float | None) -> dict[str, Measured]:
    return {
        f"reference_kernel.{part}": Measured(
            value=v, unit="steps/s", missing=None if v else Reason(kind="not_measured")
        )
        for part, v in parts.items()
    }


def with_kernel(plan: Plan, ratio: float = 1.0, *, disk: bool = True) -> list[TrialRecord]:
    """A machine whose speed wanders by 4 % from visit to visit, with the kernel run before each."""
    random = np.random.default_rng(3)
    state = {visit.visit: random.normal(0, 0.04) for visit in plan.visits}
    records = []
    for visit in plan.visits:
        for trial in visit.trials:
            effect = ratio if visit.system == "durable" else 1.0
            rate = 1000 * effect * math.exp(state[visit.visit] + random.normal(0, 0.005))
            record = a_record(trial, rate)
            speed = 1e9 * math.exp(state[visit.visit] + random.normal(0, 0.005))
            parts = kernel_responses(
                cpu=speed,
                memory=1e9 * math.exp(random.normal(0, 0.01)),
                disk=50.0 if disk else None,
            )
            records.append(record.model_copy(update={"responses": record.responses | parts}))
    return records


def judged(study: Study, **options: Any) -> RunFindings:
    plan = make_plan(study, 5)
    return judge_study(study, plan, with_kernel(plan, **options), run="one")


def test_a_reference_kernel_narrows_the_interval_and_the_gain_is_a_finding() -> None:
    findings = judged(a_study(users=(4,), **KERNEL), ratio=1.03)
    (gain,) = findings.workloads[0].covariates
    assert gain.width_log is not None
    assert gain.width_without_log is not None
    assert gain.width_log < 0.5 * gain.width_without_log
    assert gain.parts == ("reference_kernel.cpu", "reference_kernel.memory")
    (verdict,) = [v for v in findings.workloads[0].verdicts if not v.exploratory]
    assert verdict.low_log is not None
    assert verdict.high_log is not None
    assert verdict.high_log - verdict.low_log == gain.width_log


def test_without_a_reference_kernel_in_the_study_nothing_is_taken_out() -> None:
    study = a_study(users=(4,))
    plan = make_plan(study, 5)
    records = with_kernel(plan, ratio=1.03)
    silent = [
        r.model_copy(
            update={
                "responses": {k: v for k, v in r.responses.items() if "reference_kernel" not in k}
            }
        )
        for r in records
    ]
    assert judge_study(study, plan, records, run="one").workloads[0].covariates == ()
    found = [
        judge_study(study, plan, each, run="one").workloads[0].verdicts
        for each in (records, silent)
    ]
    assert found[0] == found[1]


def test_the_kernel_decides_with_fewer_visits() -> None:
    stops = []
    for kernel in ({}, KERNEL):
        study = a_study(users=(4,), per_cell=24, **kernel)
        plan = make_plan(study, 5)
        records = with_kernel(plan, ratio=1.02)
        upto = (v for v in range(8, 49) if look(study, plan, records[:v]).decided)
        stops.append(next(upto, 49))
    assert stops[1] < stops[0]


def test_looks_in_turn_and_all_at_once_agree_beside_a_reference_kernel() -> None:
    study = a_study(users=(4,), **KERNEL)
    plan = make_plan(study, 5)
    records = with_kernel(plan, ratio=1.05)
    words = [look(study, plan, records[:v]).words[0].word for v in range(8, len(records) + 1)]
    at = next(v for v, word in enumerate(words, start=8) if word != "undecided")
    verdict = judge_study(study, plan, records, run="one").workloads[0].verdicts[0]
    assert verdict.decided_at_visit == at
    assert verdict.word == words[-1]


def test_the_kernel_of_a_visit_is_that_of_its_first_attempt() -> None:
    """Later ones may run while what the system did to the machine lasts."""
    plan = make_plan(a_study(), 5)
    first, second = plan.visits[0].trials
    records = [
        a_record(second, 1.0, responses=kernel_responses(cpu=3.0)),
        a_record(first, 1.0, attempt=2, responses=kernel_responses(cpu=2.0)),
        a_record(first, None, outcome=Outcome.TOOL_FAILED, responses=kernel_responses(cpu=1.0)),
    ]
    assert measured_before(records) == {1: {"reference_kernel.cpu": 0.0}}


def test_a_part_that_was_not_known_at_first_is_no_covariate() -> None:
    of = {
        1: {"reference_kernel.cpu": 0.1},
        2: {"reference_kernel.cpu": 0.2, "reference_kernel.disk": 0.5},
    }
    assert parts_of((1, 2), of) == ("reference_kernel.cpu",)
    assert parts_of((3, 1), of) == ()
    assert covariate_of((3, 1), of) is None


def test_a_part_that_is_missing_later_stays_as_it_was() -> None:
    of = {1: {"reference_kernel.cpu": 0.1}, 3: {"reference_kernel.cpu": 0.3}}
    found = covariate_of((1, 2, 3, 4), of)
    assert found is not None
    assert found[:, 0].tolist() == [0.1, 0.1, 0.3, 0.3]


def test_a_further_covariate_counts_for_every_12_visits() -> None:
    columns = np.random.default_rng(1).normal(size=(40, 3))
    counts = [quick_parts(columns[:n], basis(n)).shape[1] for n in (8, 23, 24, 36, 40)]
    assert counts == [1, 1, 2, 3, 3]


def test_a_covariate_that_repeats_another_is_left_out() -> None:
    one = np.random.default_rng(1).normal(size=40)
    assert quick_parts(np.column_stack([one, 2 * one + 1]), basis(40)).shape[1] == 1
    assert quick_parts(np.ones(40), basis(40)).shape[1] == 0


@pytest.mark.parametrize("disk", [True, False])
def test_a_disk_that_is_constant_or_refused_changes_nothing(disk: bool) -> None:
    findings = judged(a_study(users=(4,), per_cell=24, **KERNEL), ratio=1.03, disk=disk)
    assert findings.workloads[0].covariates[0].width_log is not None
