"""What forbids a verdict that the tests would give."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from tests.calibration.faults import FAULTS, struck
from tests.unit.judge.quick import judge_study
from tests.unit.judge.studies import RESPONSES, a_record, a_study, kinds, measured, noisy

from steelyard.inference.noise.robust import Floats
from steelyard.inference.randomisation import big_stick
from steelyard.inference.sequential import Decision, VerdictWord
from steelyard.judge.comparisons.withholding import carry_over_decides
from steelyard.judge.findings import VerdictFinding
from steelyard.judge.kinds.verdict_notes import (
    CarryOverDecides,
    EffectChanges,
    InterferenceExplains,
    TooManyInvalid,
)
from steelyard.judge.visits.series import Series
from steelyard.plan.make import make_plan
from steelyard.plan.model import PlannedTrial
from steelyard.records.missing import FailedBeyond
from steelyard.records.schema import AttemptFailure, Measured, Outcome, TrialRecord
from steelyard.records.warnings import TrialWarning, WarningKind

FAILED = AttemptFailure(phase="check", message="stolen")


def with_invalid(
    every: int, *, of: tuple[str, ...] = ("fast", "durable"), margin_ratio: float = 0.02
) -> VerdictFinding:
    """Every so-manieth trial of some systems was invalid at first and good when repeated."""
    study = a_study(users=(1,), per_cell=24, margin_ratio=margin_ratio)
    plan = make_plan(study, 3)
    records: list[TrialRecord] = []
    for record in measured(plan, noisy(0.8)):
        if record.cell.system in of and record.trial % every == 0:
            changes = {"outcome": Outcome.INVALID, "failure": FAILED}
            records.append(record.model_copy(update=changes))
            records.append(record.model_copy(update={"attempt": 2}))
        else:
            records.append(record)
    return judge_study(study, plan, records, run="r").workloads[0].verdicts[0]


def test_more_than_a_tenth_of_invalid_trials_is_a_reason_to_distrust_the_study() -> None:
    refused = TooManyInvalid(invalid=12, measured=60, limit_share=0.1)
    assert refused in with_invalid(4).reasons


def test_beside_a_withheld_verdict_no_margin_is_called_too_small_and_no_forecast_is_given() -> None:
    verdict = with_invalid(2, margin_ratio=0.0001)
    assert isinstance(verdict.withheld, TooManyInvalid)
    assert "margin_below_resolution" not in kinds(verdict)
    assert verdict.visits_to_decide is None
    assert verdict.withheld_visits is not None
    assert verdict.withheld_visits <= verdict.n_baseline + verdict.n_other


def test_a_tenth_of_invalid_trials_is_left_out_as_always() -> None:
    assert with_invalid(12).word is VerdictWord.SLOWER


def test_invalid_trials_of_one_system_alone_are_kept_and_told() -> None:
    verdict = with_invalid(2, of=("durable",))
    assert "invalid_unequal" in kinds(verdict)


def test_a_verdict_stands_when_the_effect_turns_round_and_both_parts_are_given() -> None:
    study = a_study(users=(1,), per_cell=24)
    plan = make_plan(study, 3)
    random = np.random.default_rng(1)

    def turning(trial: PlannedTrial) -> float:
        late = trial.visit > len(plan.visits) // 2
        ratio = (0.7 if not late else 1.1) if trial.cell.system == "durable" else 1.0
        return float(1000 * ratio * np.exp(random.normal(0, 0.005)))

    verdict = judge_study(study, plan, measured(plan, turning), run="r").workloads[0].verdicts[0]
    assert verdict.word is VerdictWord.SLOWER
    assert verdict.withheld is None
    [change] = [note for note in verdict.notes if isinstance(note, EffectChanges)]
    assert change.last_visit_before == len(plan.visits) // 2
    assert change.first_log == pytest.approx(math.log(0.7), abs=0.02)
    assert change.second_log == pytest.approx(math.log(1.1), abs=0.02)


def test_a_steady_effect_is_not_called_unstable() -> None:
    study = a_study(users=(1,), per_cell=24)
    plan = make_plan(study, 3)
    found = judge_study(study, plan, measured(plan, noisy(math.exp(-0.05), 0.03)), run="r")
    assert not found.workloads[0].verdicts[0].withheld


def some_disturbed(
    ratio: float,
    *,
    known: bool = True,
    order_seed: int = 1,
    left: float = 0.9,
    noise_log: float = 0.02,
) -> VerdictFinding:
    """A throttled processor takes 10 % off ten visits of ``durable`` and three of ``fast``.

    Of twelve each: that many come by chance in 1.2 %, which is no reason for a veto by itself. The
    noise of visits that are alike otherwise adds up to nothing, whatever their order.
    """
    study = a_study(users=(1,), per_cell=24)
    plan = make_plan(study, order_seed)
    random = np.random.default_rng(order_seed)
    values: dict[int, float] = {}
    throttled: set[int] = set()
    for name, count in (("durable", 10), ("fast", 3)):
        own = [visit.visit for visit in plan.visits if visit.system == name][:12]
        hot = set(random.permutation(own)[:count].tolist())
        level = 1000 * (ratio if name == "durable" else 1.0)
        for alike, share in ((hot, left), (set(own) - hot, 1.0)):
            noise = random.permutation(np.linspace(-noise_log, noise_log, len(alike)))
            made = level * share * np.exp(noise)
            values |= dict(zip(sorted(alike), made.tolist(), strict=True))
        throttled |= hot
    warning = TrialWarning(kind=WarningKind.THROTTLED)
    records = [
        record.model_copy(
            update={"warnings": (warning,) if known and record.visit in throttled else ()}
        )
        for record in measured(plan, lambda trial: values.get(trial.visit))
        if record.visit in values
    ]
    return judge_study(study, plan, records, run="r").workloads[0].verdicts[0]


def an_order_that_decides() -> int:
    """The first in which the tests find a difference, without warnings about the processor."""
    seeds = range(1, 31)
    words = (some_disturbed(1.0, known=False, order_seed=seed).word for seed in seeds)
    found = (seed for seed, word in zip(seeds, words, strict=True) if word is VerdictWord.SLOWER)
    return next(found)


def test_a_few_disturbed_visits_do_not_decide_before_they_can_be_counted() -> None:
    verdict = some_disturbed(1.0, order_seed=an_order_that_decides())
    assert verdict.withheld == InterferenceExplains(
        cause="throttled", system="durable", affected=10, visits=12
    )


@pytest.mark.parametrize("order_seed", range(1, 9))
def test_a_disturbance_far_beyond_the_noise_is_not_taken_for_stalls(order_seed: int) -> None:
    alone = some_disturbed(1.0, order_seed=order_seed, left=0.8, noise_log=0.003)
    assert alone.word is VerdictWord.UNDECIDED
    beside = some_disturbed(0.8, order_seed=order_seed, left=0.8, noise_log=0.003)
    assert beside.word is VerdictWord.SLOWER


def test_a_difference_that_is_clear_beside_the_disturbance_is_reported() -> None:
    assert some_disturbed(0.8).word is VerdictWord.SLOWER


def test_a_system_whose_percentile_is_never_defined_is_slower_without_a_disturbance() -> None:
    primary = {"p99": RESPONSES["p99"].model_copy(update={"primary": True})}
    study = a_study(users=(1,), per_cell=12, responses=primary)
    plan = make_plan(study, 3)
    value = noisy(1.0)

    def record(trial: PlannedTrial) -> TrialRecord:
        gone = trial.cell.system == "durable"
        p99 = Measured(
            value=None if gone else value(trial),
            unit="ns",
            missing=FailedBeyond(failed_share=0.5) if gone else None,
            infinite=gone,
        )
        return a_record(trial, None, responses={"p99": p99})

    records = [record(trial) for visit in plan.visits for trial in visit.trials]
    found = judge_study(study, plan, records, run="r").workloads[0].verdicts[0]
    assert found.word is VerdictWord.SLOWER


def test_what_is_carried_over_is_reported_while_nothing_is_decided() -> None:
    study = a_study(users=(1,), per_cell=24)
    plan = make_plan(study, 3)
    before = dict(pairwise(visit.visit for visit in plan.visits))
    after = {before[v.visit] for v in plan.visits if v.system == "durable" and v.visit in before}
    value = noisy(1.0, 0.02)

    def haunted(trial: PlannedTrial) -> float:
        return (value(trial) or 0.0) * (1.05 if trial.visit in after else 1.0)

    verdict = judge_study(study, plan, measured(plan, haunted), run="r").workloads[0].verdicts[0]
    assert verdict.word is VerdictWord.UNDECIDED
    assert "carry_over" in kinds(verdict)


def haunted_by_the_visit_before(left: float) -> Series:
    """Forty visits of two systems that are equal but for what ``durable`` leaves."""
    random = np.random.default_rng(5)
    other = big_stick(1, 40, random)[:, 0] > 0
    values = random.normal(0, 0.005, 40) + left * np.r_[False, other[:-1]]
    return Series(tuple(range(1, 41)), tuple(range(40)), other, values, ())


def by_the_sign(series: Series) -> Callable[[Floats], Decision]:
    """Decides by the means of the arms alone."""

    def decided(values: Floats) -> Decision:
        apart = values[series.other].mean() - values[~series.other].mean()
        return Decision((VerdictWord.SLOWER,) if apart < -0.002 else (), 40)

    return decided


def test_a_difference_that_the_visit_before_may_have_made_is_not_told() -> None:
    series = haunted_by_the_visit_before(0.03)
    decide = by_the_sign(series)
    decision = decide(series.values)
    assert decision.words == (VerdictWord.SLOWER,)
    why = carry_over_decides(series, decision, decide)
    assert why == CarryOverDecides()


def test_a_difference_that_one_system_alone_makes_of_the_visit_before_is_not_told() -> None:
    clean = haunted_by_the_visit_before(0.0)
    after = np.r_[False, clean.other[:-1]]
    series = replace(clean, values=clean.values + 0.02 * (after & ~clean.other))
    decide = by_the_sign(series)
    decision = decide(series.values)
    assert decision.words == (VerdictWord.SLOWER,)
    assert carry_over_decides(series, decision, decide) == CarryOverDecides()


def test_a_difference_that_is_left_without_the_visit_before_is_reported() -> None:
    haunted = haunted_by_the_visit_before(0.03)
    slower = replace(haunted, values=haunted.values - 0.05 * haunted.other)
    decide = by_the_sign(slower)
    assert carry_over_decides(slower, decide(slower.values), decide) is None


def test_of_several_systems_whichever_may_leave_it_is_taken_out() -> None:
    pair = haunted_by_the_visit_before(0.03)
    names = ("fast", *("durable" if other else "fast" for other in pair.other[:-1]))
    series = replace(pair, before=(None, *names[1:]))
    decide = by_the_sign(series)
    assert carry_over_decides(series, decide(series.values), decide) is not None


def test_where_nothing_shows_no_decision_is_made_again() -> None:
    series = haunted_by_the_visit_before(0.0)

    def never(_values: Floats) -> Decision:
        raise AssertionError("decided again")

    assert carry_over_decides(series, Decision((VerdictWord.SLOWER,), 9), never) is None


@pytest.mark.parametrize("number", [5041, 6098])
def test_a_study_that_was_distinguished_by_what_visits_leave_is_undecided(number: int) -> None:
    """Two of the studies of equal systems that were called different before."""
    caught = struck(FAULTS[0], number)
    assert caught.named
    assert not caught.verdict


def test_crashed_attempts_are_a_response_of_their_own() -> None:
    study = a_study(users=(1,), per_cell=24)
    plan = make_plan(study, 3)
    value = noisy(0.8)
    records: list[TrialRecord] = []
    for visit in plan.visits:
        for trial in visit.trials:
            crashed = trial.cell.system == "durable" and trial.trial % 3 == 0
            if crashed:
                changes = {"outcome": Outcome.SERVICE_DIED, "failure": FAILED, "responses": {}}
                records.append(a_record(trial, 1.0, **changes))
            records.append(a_record(trial, value(trial), attempt=2 if crashed else 1))
    found = judge_study(study, plan, records, run="r")
    contrast = found.workloads[0].failure_contrasts[0]
    assert contrast.attempts_chance is not None
    assert contrast.attempts_chance < 0.05
    assert (
        found.workloads[0].failures[1].attempts_failed
        > 0
        == found.workloads[0].failures[0].attempts_failed
    )
