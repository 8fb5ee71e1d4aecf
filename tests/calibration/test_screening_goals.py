"""Goal of screening: false effects, effects found, shares held. A slice, and the whole."""

from __future__ import annotations

import pytest
from scipy.stats import binom
from tests.calibration.gate import most_allowed
from tests.calibration.noises import FOUR, NOISES
from tests.calibration.screening import (
    DESIGNS,
    MARGIN_LOG,
    Case,
    falsely_influential,
    falsely_negligible,
    found_all,
    intervals_held,
    share_coverage,
)

FOUR_PERCENT = 0.0392
SCENARIOS: tuple[dict[tuple[int, ...], float], ...] = (
    {},
    {(0,): 0.04, (1,): 0.02},
    {(0,): 0.2, (1,): 0.1, (0, 1): 0.04},
)


def least(count: int, probability: float) -> int:
    """The 1 % quantile of successes of something that has this probability."""
    return int(binom.ppf(0.01, count, probability))


@pytest.mark.parametrize("noise", FOUR)
def test_a_slice_of_screenings_without_effects_finds_none(noise: str) -> None:
    case = Case(noise=noise, replicates=6, planned=6, studies=120)
    assert falsely_influential(case) <= most_allowed(case.studies)


def test_four_percent_are_found_in_a_slice_within_forty_trials() -> None:
    case = Case(effects={(0,): FOUR_PERCENT}, replicates=5, studies=100)
    assert found_all(case) >= least(case.studies, 0.95)


def test_visits_that_differ_make_no_effect_of_what_changes_between_them() -> None:
    case = Case(design="2^3 split", visit_sd=0.05, replicates=8, planned=8, studies=120)
    assert falsely_influential(case) <= most_allowed(case.studies)


def test_a_slice_of_intervals_of_shares_holds_the_truth() -> None:
    case = Case(effects=SCENARIOS[2], replicates=4, planned=14, studies=60)
    held = sum(share_coverage(case).values()) / 7
    assert held * case.studies * 7 >= least(case.studies * 7, 0.93)


@pytest.mark.validate
@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("noise", NOISES)
def test_at_most_five_percent_of_screenings_find_what_is_not_there(noise: str, design: str) -> None:
    case = Case(design=design, noise=noise, replicates=8, planned=8, studies=1_000)
    assert falsely_influential(case) <= most_allowed(case.studies)


@pytest.mark.validate
@pytest.mark.parametrize("subset", [(0,), (1, 2)])
def test_four_percent_are_found_within_forty_trials(subset: tuple[int, ...]) -> None:
    case = Case(effects={subset: FOUR_PERCENT}, replicates=5, studies=1_000)
    assert found_all(case) >= 0.95 * case.studies


@pytest.mark.validate
def test_effects_at_the_margin_are_seldom_called_negligible() -> None:
    effects = dict.fromkeys([(0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2)], MARGIN_LOG)
    case = Case(effects=effects, studies=1_000)
    assert falsely_negligible(case) <= most_allowed(case.studies)


@pytest.mark.validate
def test_all_intervals_together_hold_the_truth_at_any_stop() -> None:
    case = Case(effects=SCENARIOS[2], studies=1_000)
    assert intervals_held(case) >= case.studies - most_allowed(case.studies)


@pytest.mark.validate
@pytest.mark.parametrize("replicates", [3, 5, 8])
@pytest.mark.parametrize("scenario", range(len(SCENARIOS)))
def test_intervals_of_shares_hold_the_truth_in_ninety_three_percent_and_more(
    scenario: int, replicates: int
) -> None:
    case = Case(effects=SCENARIOS[scenario], replicates=replicates, studies=1_000)
    for factors, held in share_coverage(case).items():
        assert held * case.studies >= least(case.studies, 0.93), factors
        assert held <= 0.985, factors
