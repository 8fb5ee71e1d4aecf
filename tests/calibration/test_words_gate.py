"""Slices of what is promised of guards, claims, failures, canaries and the engine on pairs."""

from __future__ import annotations

import pytest
from tests.calibration import claiming, failing, guarding
from tests.calibration.batched import MARGIN, judged
from tests.calibration.cells import Cell, drawn
from tests.calibration.claiming import claimed
from tests.calibration.gate import most_allowed
from tests.calibration.guarding import guarded
from tests.calibration.races import EQUAL, Race, false_families

pytestmark = pytest.mark.extended

STUDIES = 12
AT_MARGIN = [case for case in guarding.CASES if case.times == 1][:1]


@pytest.mark.parametrize("case", AT_MARGIN, ids=lambda case: case.name)
def test_a_system_worse_by_the_margin_of_a_guardrail_is_seldom_faster(
    case: guarding.Guarding,
) -> None:
    said = guarded(case, 0, STUDIES)
    assert said.counts["faster"] <= most_allowed(STUDIES)


def test_a_system_far_worse_in_a_guardrail_is_a_trade_off() -> None:
    case = next(case for case in guarding.CASES if case.times == 3)
    assert guarded(case, 0, STUDIES).counts["trade_off"] >= STUDIES - 2


def test_a_guardrail_that_holds_forbids_nothing() -> None:
    case = next(case for case in guarding.CASES if case.times == 0)
    assert guarded(case, 0, STUDIES).counts["faster"] >= STUDIES - 2


def test_several_claims_at_their_bounds_are_seldom_decided() -> None:
    said = claimed(claiming.AT_THE_BOUND[-1], 0, STUDIES)
    assert said.counts["supported"] <= most_allowed(STUDIES)
    assert said.counts["contradicted"] <= most_allowed(STUDIES)


@pytest.mark.parametrize("case", claiming.CLEAR, ids=lambda case: case.name)
def test_a_claim_that_is_clearly_true_is_supported(case: claiming.Claiming) -> None:
    assert claimed(case, 0, STUDIES).counts["supported"] >= STUDIES - 2


def test_a_claim_that_is_clearly_false_is_contradicted() -> None:
    assert claimed(claiming.UNTRUE[0], 0, STUDIES).counts["contradicted"] >= STUDIES - 2


def test_failures_that_cluster_are_not_taken_for_a_difference_as_by_pooled_counts() -> None:
    clustered = next(case for case in failing.CASES if case.clustered == 0.01)
    told = failing.unequal_failures(clustered, 0, 2 * STUDIES)
    assert told.counts["wrong"] <= most_allowed(2 * STUDIES)
    assert told.counts["pooled"] > STUDIES


def test_percentiles_without_a_value_make_no_difference_of_equals() -> None:
    told = failing.undefined_percentiles(0.4, 0, STUDIES)
    assert told.counts["wrong"] <= most_allowed(STUDIES)


def test_a_family_of_equal_systems_in_an_elimination_is_seldom_distinguished() -> None:
    assert false_families(Race("AR(1) 0.9", EQUAL, STUDIES, family=True)) <= most_allowed(STUDIES)


def test_a_reference_kernel_that_measures_the_machine_decides_sooner() -> None:
    cells = [Cell("bimodal 6 %", effect=MARGIN, canary=canary) for canary in (False, True)]
    stops = [
        sum(each.at or cell.horizon for each in judged(drawn(cell, 0, STUDIES), cell.horizon))
        for cell in cells
    ]
    assert stops[1] < stops[0]


def test_what_a_reference_kernel_measures_is_the_machine_and_not_the_visit() -> None:
    batch = drawn(Cell("bimodal 6 %", canary=True, horizon=200, paths=100), 0, 1)
    assert batch.canary is not None
    heard = batch.canary[0, :, 0]
    modes = heard > 0.03
    assert 60 < modes.sum() < 140
    rest = batch.values[0] - 0.06 * modes
    assert abs(rest.std() - 0.02) < 0.004
    assert abs(float((heard - 0.06 * modes).std()) - 0.005) < 0.001
