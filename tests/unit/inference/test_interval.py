from __future__ import annotations

import math

import numpy as np
import pytest

from steelyard.inference.confidence import Interval, Rejections, fixed_grid
from steelyard.inference.exact import Pool
from steelyard.inference.randomisation import big_stick
from steelyard.inference.ratio_tests import Inference
from steelyard.inference.sequential import VerdictWord
from steelyard.inference.stream import Stream

MARGIN = math.log1p(0.02)
PATHS = 3_000


def study(effect: float, visits: int, noise: float = 0.02, seed: int = 1) -> Stream:
    random = np.random.default_rng(seed)
    signs = big_stick(1, visits, random)[:, 0]
    values = random.normal(0, noise, visits) + effect * (signs > 0)
    return Stream(values, signs > 0, Pool(signs, big_stick(PATHS, visits, random)), 96)


def under_test(*given: float, **more: float) -> Inference:
    return Inference.of(study(*given, **more))  # type: ignore[arg-type]


def interval(tests: Inference, alpha: float, estimate: float) -> Interval:
    [(found, _)] = tests.sizes(MARGIN, [alpha], estimate)
    return found


def test_the_grid_is_symmetric_and_holds_zero_and_the_margins() -> None:
    grid = fixed_grid(MARGIN)
    assert (grid == -grid[::-1]).all()
    assert {0.0, MARGIN, -MARGIN} <= set(grid.tolist())


@pytest.mark.parametrize("margin", [0.001, MARGIN, 0.5])
def test_the_grid_reaches_a_factor_of_three_thousand_for_any_margin(margin: float) -> None:
    assert fixed_grid(margin)[-1] >= 8


@pytest.mark.parametrize("effect", [-1.6, 0.0, 0.05, 0.5, 4.0])
def test_the_interval_holds_the_truth_and_is_narrow_around_it(effect: float) -> None:
    low, high = interval(under_test(effect, 24), 0.025, effect)
    assert low is not None
    assert high is not None
    assert low < effect < high
    assert high - low < 0.08


def test_an_end_is_not_bounded_while_no_test_has_crossed() -> None:
    assert interval(under_test(0.0, 8), 1e-9, 0.0) == (None, None)


def test_the_high_end_is_the_low_end_of_the_mirrored_comparison() -> None:
    tests = under_test(0.03, 20)
    mirrored = interval(tests.mirrored, 0.025, -0.03)
    assert mirrored.low is not None
    assert interval(tests, 0.025, 0.03) == mirrored.signed(-1)
    assert interval(tests, 0.025, 0.03).high == -mirrored.low


def test_an_interval_does_not_depend_on_what_was_asked_before() -> None:
    tests = under_test(0.03, 20)
    both = tests.sizes(MARGIN, [0.025, 0.05], 0.03)
    alone = [interval(under_test(0.03, 20), alpha, 0.03) for alpha in (0.025, 0.05)]
    assert [each.present for each in both] == alone
    tests.decide(MARGIN, 0.05)
    assert tests.sizes(MARGIN, [0.025, 0.05], 0.03) == both


@pytest.mark.parametrize("seed", range(8))
def test_word_and_interval_never_contradict_each_other(seed: int) -> None:
    tests = under_test(0.018, 14, seed=seed)
    words = tests.decide(MARGIN, 0.05).words
    low, high = interval(tests, 0.025, 0.018)
    if VerdictWord.FASTER in words:
        assert low is not None
        assert low >= 0
    if VerdictWord.SLOWER in words:
        assert high is not None
        assert high <= 0


def test_equal_systems_are_called_equivalent_within_the_margin() -> None:
    tests = under_test(0.0, 60, noise=0.01)
    assert tests.decide(MARGIN, 0.05).words == (VerdictWord.EQUIVALENT,)
    low = interval(tests, 0.05, 0.0).low
    assert low is not None
    assert low >= -MARGIN


def test_a_real_difference_below_the_margin_may_hold_two_words_at_different_looks() -> None:
    decision = under_test(0.01, 60, noise=0.004).decide(MARGIN, 0.05)
    assert decision.at is not None
    assert set(decision.words) & {VerdictWord.FASTER, VerdictWord.EQUIVALENT}


def test_a_decision_stays_what_it_was_when_the_study_goes_on() -> None:
    stream = study(0.06, 40)
    decision = Inference.of(stream).decide(MARGIN, 0.05)
    assert decision.at is not None
    shorter = Stream(
        stream.values[: decision.at],
        stream.other[: decision.at],
        stream.pool.first(decision.at),
        stream.horizon,
    )
    assert Inference.of(shorter).decide(MARGIN, 0.05) == decision


def test_a_fourfold_slowdown_is_slower() -> None:
    assert under_test(-math.log(4), 12).decide(MARGIN, 0.05).words == (VerdictWord.SLOWER,)


def test_ratios_far_from_the_data_are_rejected_at_the_first_looks() -> None:
    looks = Rejections(study(0.0, 20)).looks(np.array([-8.0, -2.0]), 0.05)
    assert all(look is not None and look <= 12 for look in looks)
