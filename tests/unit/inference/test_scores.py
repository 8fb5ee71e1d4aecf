from __future__ import annotations

import numpy as np
import pytest

from steelyard.inference.estimate import Estimate, estimate, visits_to_decide
from steelyard.inference.weights import SCALE, weights


def test_weights_are_whole_numbers_within_the_clip() -> None:
    found = weights(np.random.default_rng(1).normal(0, 1, (5, 12)))
    assert (found == np.rint(found)).all()
    assert np.abs(found).max() <= SCALE


def test_a_stall_weighs_no_more_than_two_standard_deviations() -> None:
    values = np.random.default_rng(2).normal(0, 0.02, 12)
    stalled, worse = values.copy(), values.copy()
    stalled[3], worse[3] = -1.0, -50.0
    assert weights(stalled[None, :])[0, 3] == weights(worse[None, :])[0, 3] == -SCALE


def test_changing_the_unit_or_the_zero_changes_no_weight() -> None:
    values = np.random.default_rng(3).normal(0, 1, (1, 20))
    assert (weights(values) == weights(4 * values + 8)).all()


def test_more_and_less_are_weighed_alike() -> None:
    values = np.random.default_rng(4).normal(0, 1, (1, 17))
    assert (weights(-values) == -weights(values)).all()


def test_without_spread_every_weight_is_zero() -> None:
    assert (weights(np.full((1, 10), 3.0)) == 0).all()


def test_when_most_values_are_equal_the_others_still_count() -> None:
    values = np.zeros((1, 12))
    values[0, 5] = 1.0
    assert weights(values)[0, 5] == SCALE


def weighed(rows: np.ndarray, other: np.ndarray, effect: float) -> float:
    """How far the weights separate an effect from chance, in standard deviations."""
    found = weights(rows + effect * other)[0]
    return float(found @ np.where(other, 1, -1)) / float(np.sqrt(np.sum(found**2)))


@pytest.mark.parametrize(
    "slow",
    [
        0.004 * np.arange(60.0),
        0.1 * np.cos(np.pi * np.arange(60) / 60),
    ],
    ids=["drift", "half a wave"],
)
def test_low_frequency_trends_hide_little_of_an_effect(slow: np.ndarray) -> None:
    random = np.random.default_rng(6)
    noise = random.normal(0, 0.02, 60)
    other = random.permutation(np.arange(60) % 2 == 0)
    moved = weighed((noise + slow)[None, :], other, 0.02)
    assert moved > 0.8 * weighed(noise[None, :], other, 0.02)


def test_what_alternates_hides_little_of_an_effect() -> None:
    random = np.random.default_rng(8)
    noise = random.normal(0, 0.02, 60)
    other = random.permutation(np.arange(60) % 2 == 0)
    swinging = weighed((noise + 0.06 * (-1.0) ** np.arange(60))[None, :], other, 0.02)
    assert swinging > 0.8 * weighed(noise[None, :], other, 0.02)


def test_what_is_only_the_rounding_of_logarithms_has_no_weight() -> None:
    line = np.log(np.linspace(1.0, 1.1, 30))[None, :]
    assert (weights(line - line) == 0).all()
    assert (weights(np.arange(30.0)[None, :] / 3) == 0).all()


def arms(effect: float, visits: int) -> tuple[np.ndarray, np.ndarray]:
    other = np.arange(visits) % 4 < 2
    return np.random.default_rng(5).normal(0, 0.02, visits) + effect * other, other


@pytest.mark.parametrize("effect", [-2.0, 0.0, 0.05])
def test_the_estimate_lies_within_three_standard_errors_of_the_truth(effect: float) -> None:
    found = estimate(*arms(effect, 40))
    assert found is not None
    assert abs(found.ratio_log - effect) < 3 * found.standard_error_log
    assert 0.003 < found.standard_error_log < 0.02


def test_a_drift_moves_the_estimate_less_than_a_difference_of_medians() -> None:
    values, other = arms(0.0, 40)
    drifted = values + 0.05 * np.arange(40)
    found = estimate(drifted, other)
    assert found is not None
    plain = float(np.median(drifted[other]) - np.median(drifted[~other]))
    assert abs(found.ratio_log) < abs(plain)


def test_without_both_arms_there_is_no_estimate() -> None:
    assert estimate(np.zeros(4), np.ones(4, dtype=np.bool_)) is None


def test_the_forecast_grows_with_the_square_of_the_noise() -> None:
    quiet, loud = Estimate(0.012, 0.01, 0.04), Estimate(0.012, 0.02, 0.08)
    few = visits_to_decide(quiet, 30, 0.0198, 0.05)
    many = visits_to_decide(loud, 30, 0.0198, 0.05)
    assert few is not None
    assert many is not None
    assert (many + 30) / (few + 30) == pytest.approx(4, rel=0.05)


def test_a_verdict_that_is_nearly_there_needs_one_more_visit() -> None:
    assert visits_to_decide(Estimate(0.05, 0.001, 0.02), 12, 0.0198, 0.05) == 1


def test_no_forecast_is_given_when_none_is_in_sight() -> None:
    assert visits_to_decide(Estimate(0.0198, 5.0, 20.0), 12, 0.0198, 0.05) is None
