"""A calibration that a trial disproves neither withholds a verdict nor warns of the generator."""

from __future__ import annotations

from tests.unit.judge.quick import judge_study
from tests.unit.judge.studies import a_study, measured, noisy
from tests.unit.judge.test_judge_study import overall

from steelyard.inference.sequential import VerdictWord
from steelyard.judge.kinds.caveats import CalibrationExceeded
from steelyard.judge.kinds.verdict_notes import GeneratorSaturated
from steelyard.judge.verdict import look
from steelyard.plan.make import make_plan
from steelyard.records.schema import Calibration, TrialRecord
from steelyard.records.warnings import TrialWarning, WarningKind
from steelyard.report.notes import text
from steelyard.study.labels import Labels

STUDY = a_study(per_cell=30)
PLAN = make_plan(STUDY, 3)
NEAR = TrialWarning(kind=WarningKind.GENERATOR_NEAR_CAPACITY, figures={"capacity_ratio": 0.95})


def near(record: TrialRecord, ratio: float = 0.95) -> TrialRecord:
    calibration = Calibration(sink="sink-http", capacity_per_s=1000.0, ratio=ratio)
    return record.model_copy(update={"warnings": (NEAR,), "calibration": calibration})


def records(*ratios: float) -> list[TrialRecord]:
    """Equal systems near the capacity; the first trials reached these ratios."""
    equal = [near(each) for each in measured(PLAN, noisy(1.0, noise=0.006))]
    return [near(each, of) for each, of in zip(equal, ratios, strict=False)] + equal[len(ratios) :]


def test_trials_near_a_capacity_that_holds_withhold_the_verdict() -> None:
    found = judge_study(STUDY, PLAN, records(1.04), run="r")
    assert isinstance(overall(found).withheld, GeneratorSaturated)
    assert not any(each.trials_exceeded for each in found.workloads[0].calibrations)


def test_one_trial_above_the_capacity_makes_the_calibration_invalid() -> None:
    seen = records(3.08, 1.2)
    found = judge_study(STUDY, PLAN, seen, run="r")
    assert overall(found).word is VerdictWord.EQUIVALENT
    assert look(STUDY, PLAN, seen).decided
    assert not any(each.warnings for each in found.attempts)
    assert not any(each.trials_near for each in found.workloads[0].calibrations)
    of_kind = [c for c in found.workloads[0].caveats if isinstance(c, CalibrationExceeded)]
    assert [(c.trials, c.largest_ratio) for c in of_kind] == [(2, 3.08)]
    said = text(of_kind[0], Labels.of(STUDY))
    assert f"2 of {len(seen)} trials exceeded the measured capacity, by up to 208 %" in said
