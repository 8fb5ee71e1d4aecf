"""The Welch test, for arms of unequal spread, and the boundary that it keeps."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import norm, ttest_ind

from steelyard.inference.confidence import Rejections
from steelyard.inference.exact import Pool
from steelyard.inference.normal_boundary import levels
from steelyard.inference.randomisation import big_stick
from steelyard.inference.ratio_tests import Inference
from steelyard.inference.spending import spent_by_second
from steelyard.inference.stream import Stream
from steelyard.inference.welch import contrast


def arms(visits: int, spread: float = 1.0, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    other = big_stick(1, visits, random)[:, 0] > 0
    return random.normal(0, 0.02, visits) * np.where(other, spread, 1.0), other


def lows(values: np.ndarray, other: np.ndarray) -> np.ndarray:
    pool = Pool(np.zeros(len(values), np.int8), np.zeros((len(values), 0), np.int8))
    return Rejections(Stream(values, other, pool, 96)).lows(0.025)


@pytest.mark.parametrize("spread", [1.0, 4.0])
def test_of_few_visits_it_is_welchs_test(spread: float) -> None:
    values, other = arms(10, spread)
    found = contrast(values, other)
    assert found is not None
    welch = ttest_ind(values[other], values[~other], equal_var=False)
    assert found.freedom == pytest.approx(welch.df)
    assert found.difference_log / found.standard_error_log == pytest.approx(welch.statistic)


def test_a_drift_and_a_stall_widen_it_little() -> None:
    values, other = arms(48)
    quiet = contrast(values, other)
    stalled = values + 0.01 * np.arange(48)
    stalled[[5, 30]] -= 0.4
    found = contrast(stalled, other)
    assert quiet is not None
    assert found is not None
    assert found.standard_error_log < 1.3 * quiet.standard_error_log


def test_what_alternates_widens_it_little() -> None:
    values, other = arms(48)
    quiet = contrast(values, other)
    found = contrast(values + 0.06 * (-1.0) ** np.arange(48), other)
    assert quiet is not None
    assert found is not None
    assert found.standard_error_log < 1.3 * quiet.standard_error_log


def test_it_moves_with_the_ratio_and_with_nothing_else() -> None:
    values, other = arms(30, 4.0)
    here, there = contrast(values, other), contrast(values + 0.3 * other, other)
    assert here is not None
    assert there is not None
    assert there.difference_log == pytest.approx(here.difference_log + 0.3)
    assert there.standard_error_log == pytest.approx(here.standard_error_log)


@pytest.mark.parametrize("visits", [10, 40, 96])
def test_of_mirrored_values_it_is_the_mirrored_contrast(visits: int) -> None:
    values, other = arms(visits)
    known, mirrored = (
        contrast(values + 0.01 * other, other),
        contrast(-values - 0.01 * other, other),
    )
    assert known is not None
    assert known.difference_log
    assert mirrored == known._replace(difference_log=-known.difference_log)


def test_with_one_visit_of_an_arm_nothing_is_known() -> None:
    assert contrast(np.zeros(3), np.array([True, False, False])) is None


def test_a_low_end_is_of_its_own_look() -> None:
    values, other = arms(60, 2.0)
    found = lows(values, other)
    assert len(found) == 53
    assert (np.diff(found) < 0).any()
    assert (lows(values[:40], other[:40]) == found[:33]).all()


def test_the_first_level_is_what_may_be_spent_and_all_looks_spend_no_more() -> None:
    asked = levels(48, 0.05)[:41]
    assert asked[0] == pytest.approx(spent_by_second(8, 48, 0.05), rel=0.01)
    random = np.random.default_rng(3)
    sums = np.cumsum(random.normal(size=(20_000, 48)), axis=1)[:, 7:]
    heights = sums / np.sqrt(np.arange(8, 49))
    crossed = (heights > norm.isf(asked)).any(axis=1).mean()
    assert crossed == pytest.approx(spent_by_second(48, 48, 0.05), abs=0.004)


def test_a_wide_arm_is_not_called_faster_because_its_few_visits_lie_on_one_side() -> None:
    """All of the wide arm lie above the narrow one: rare for a coin, common for wide arms."""
    signs = np.array([1, -1, 1, -1, -1, 1, -1, 1], dtype=np.int8)
    values = np.where(signs > 0, [0.3, 0, 0.02, 0, 0, 0.5, 0, 0.04], [0, 1e-3, 0, 2e-3] * 2)
    pool = Pool(signs, big_stick(4_000, 8, np.random.default_rng(5)))
    stream = Stream(values, signs > 0, pool, 96)
    assert Inference.of(stream).decide(math.log1p(0.02), 0.3).words == ()


def test_the_interval_is_the_wider_of_both_tests() -> None:
    values, other = arms(40, 4.0, seed=9)
    signs = np.where(other, 1, -1).astype(np.int8)
    stream = Stream(values, other, Pool(signs, big_stick(2_000, 40, np.random.default_rng(2))), 96)
    [((low, high), _)] = Inference.of(stream).sizes(0.0198, [0.025], 0.0)
    assert low is not None
    assert high is not None
    assert low <= lows(values, other)[-1]
    assert high >= -lows(-values, other)[-1]
