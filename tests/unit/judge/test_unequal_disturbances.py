"""Disturbances that strike one system alone withhold its verdict."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.unit.judge.quick import judge_study
from tests.unit.judge.studies import Value, a_record, a_study, noisy

from steelyard.inference.sequential import VerdictWord
from steelyard.judge.findings import RunFindings, VerdictFinding
from steelyard.judge.kinds.verdict_notes import GeneratorSaturated, InterferenceUnequal
from steelyard.plan.make import make_plan
from steelyard.plan.model import Plan, PlannedTrial
from steelyard.records.schema import TrialRecord
from steelyard.records.warnings import TrialWarning, WarningKind
from steelyard.study.model import Study


def overall(findings: RunFindings) -> VerdictFinding:
    return next(v for v in findings.workloads[0].verdicts if v.conditions is None)


def with_warnings(
    plan: Plan, value: Value, kind: WarningKind, of: Callable[[PlannedTrial], bool]
) -> list[TrialRecord]:
    warning = TrialWarning(kind=kind)
    records = [(trial, a_record(trial, value(trial))) for v in plan.visits for trial in v.trials]
    return [
        record.model_copy(update={"warnings": (warning,)}) if of(trial) else record
        for trial, record in records
    ]


def judged_with_warnings(
    study: Study, value: Value, kind: WarningKind, of: Callable[[PlannedTrial], bool]
) -> VerdictFinding:
    plan = make_plan(study, 3)
    return overall(judge_study(study, plan, with_warnings(plan, value, kind, of), run="r"))


def of_durable(trial: PlannedTrial) -> bool:
    return trial.cell.system == "durable"


@pytest.mark.parametrize(
    "kind",
    [
        WarningKind.STEAL,
        WarningKind.FOREIGN_CPU,
        WarningKind.THROTTLED,
        WarningKind.CLOCK_STEP,
    ],
)
def test_disturbances_of_one_arm_only_withhold_the_verdict(kind: WarningKind) -> None:
    verdict = judged_with_warnings(a_study(), noisy(0.8), kind, of_durable)
    assert verdict.word is VerdictWord.UNDECIDED
    assert isinstance(verdict.withheld, InterferenceUnequal)
    assert verdict.withheld.cause == kind


def test_disturbances_of_both_arms_alike_withhold_nothing() -> None:
    verdict = judged_with_warnings(a_study(), noisy(0.8), WarningKind.STEAL, lambda _: True)
    assert verdict.word is VerdictWord.SLOWER


def test_what_a_system_may_be_slow_by_withholds_nothing() -> None:
    verdict = judged_with_warnings(a_study(), noisy(0.8), WarningKind.SWAPPED, of_durable)
    assert verdict.word is VerdictWord.SLOWER


def test_systems_that_keep_the_generator_equally_busy_are_not_equivalent() -> None:
    quiet = noisy(1.0, noise=0.006)
    kind = WarningKind.GENERATOR_NEAR_CAPACITY
    verdict = judged_with_warnings(a_study(per_cell=30), quiet, kind, lambda _: True)
    assert verdict.word is VerdictWord.UNDECIDED
    assert isinstance(verdict.withheld, GeneratorSaturated)
    slower = judged_with_warnings(a_study(per_cell=30), noisy(0.8), kind, lambda _: True)
    assert slower.word is VerdictWord.SLOWER
