"""The A/A gate on the judge as shipped: a slice in every run, the whole with ``-m validate``."""

from __future__ import annotations

from dataclasses import replace

import pytest
from scipy.stats import binom
from tests.calibration.gate import (
    as_judged,
    called_faster,
    failures,
    gate,
    most_allowed,
    shipped,
)
from tests.calibration.noises import FOUR, NOISES
from tests.calibration.power import MARGIN, held_throughout, power
from tests.calibration.simulated import Case
from tests.calibration.validation import COVERED_EFFECTS, EFFECTS, SPREADS, STALLS, coverage_cases

from steelyard.judge.findings import VerdictWord

SLICE = 200
SLICE_PATHS = 2_000
SLICE_HORIZON = 48
DIFFERENCES = (VerdictWord.FASTER, VerdictWord.SLOWER)


def slice_of(noise: str) -> Case:
    return Case(noise, studies=SLICE, paths=SLICE_PATHS, horizon=SLICE_HORIZON, purpose="slice")


def test_the_bound_of_two_thousand_studies_is_just_above_six_percent() -> None:
    assert most_allowed(2_000) / 2_000 == pytest.approx(0.0615, abs=0.0005)


@pytest.mark.parametrize("noise", FOUR)
def test_a_slice_of_equal_systems_passes_the_gate(noise: str) -> None:
    assert failures([gate(shipped, slice_of(noise))]) == []


@pytest.mark.parametrize("spread", SPREADS)
def test_a_slice_of_arms_of_unequal_spread_passes_the_gate(spread: float) -> None:
    case = replace(slice_of("independent 2 %"), spread=spread)
    assert failures([gate(as_judged, case)]) == []


def test_a_system_that_stalls_is_not_called_the_faster_one() -> None:
    case = replace(slice_of("independent 2 %"), stalls=STALLS)
    assert gate(called_faster, case).wrong <= int(binom.ppf(0.99, case.studies, 0.025))


def test_the_same_case_gives_the_same_studies_and_the_same_verdicts() -> None:
    case = Case("AR(1) 0.9", studies=20, paths=2_000, horizon=24, purpose="replay")
    assert gate(shipped, case) == gate(shipped, case)


def test_two_cases_never_share_their_seed() -> None:
    one = Case("AR(1) 0.9", studies=2, paths=100, horizon=12)
    other = Case("AR(1) 0.9", studies=2, paths=100, horizon=12, purpose="another")
    assert one.name != other.name


def test_an_effect_of_nine_percent_is_found_within_some_twenty_visits() -> None:
    found = power(
        Case(
            "independent 2 %",
            effect=EFFECTS[3],
            studies=20,
            paths=SLICE_PATHS,
            purpose="power slice",
        )
    )
    assert found.share(VerdictWord.FASTER) == 1
    assert found.median_visits is not None
    assert found.median_visits <= 20


@pytest.mark.parametrize("effect", COVERED_EFFECTS)
def test_the_interval_holds_large_and_small_truths_at_every_look(effect: float) -> None:
    case = Case(
        "independent 2 %",
        effect=effect,
        studies=10,
        horizon=20,
        paths=SLICE_PATHS,
        purpose="coverage slice",
    )
    assert held_throughout(case) >= case.studies - most_allowed(case.studies)


@pytest.mark.validate
@pytest.mark.parametrize("noise", NOISES)
def test_two_thousand_studies_of_equal_systems_pass_the_gate(noise: str) -> None:
    assert failures([gate(shipped, Case(noise))]) == []


@pytest.mark.validate
@pytest.mark.parametrize("spread", SPREADS)
@pytest.mark.parametrize("noise", NOISES)
def test_arms_of_unequal_spread_pass_the_gate(noise: str, spread: float) -> None:
    case = Case(noise, spread=spread, paths=5_000, purpose="spread")
    assert failures([gate(as_judged, case)]) == []


@pytest.mark.validate
@pytest.mark.parametrize("noise", FOUR)
def test_a_system_that_stalls_in_a_tenth_of_its_visits_is_not_called_faster(noise: str) -> None:
    case = Case(noise, stalls=STALLS, paths=5_000, purpose="stalls in one arm")
    assert gate(called_faster, case).wrong <= int(binom.ppf(0.99, case.studies, 0.025))


@pytest.mark.validate
@pytest.mark.parametrize("noise", FOUR)
def test_a_difference_of_the_margin_is_called_equivalent_in_five_percent_at_most(
    noise: str,
) -> None:
    found = power(Case(noise, effect=MARGIN, studies=200, paths=5_000, purpose="power"))
    assert found.words[VerdictWord.EQUIVALENT] <= most_allowed(found.case.studies)
    assert found.words[VerdictWord.SLOWER] == 0


@pytest.mark.validate
@pytest.mark.parametrize("effect", COVERED_EFFECTS)
def test_the_interval_holds_the_truth_in_ninety_five_percent_of_studies(effect: float) -> None:
    cases = [case for case in coverage_cases() if case.effect == effect]
    total = sum(case.studies for case in cases)
    held = sum(held_throughout(case) for case in cases)
    assert held >= total - int(binom.ppf(0.99, total, 0.05))
