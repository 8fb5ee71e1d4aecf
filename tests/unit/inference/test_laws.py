"""The laws against those of SciPy, which the judge does without."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.optimize import isotonic_regression

from steelyard.inference.probability import distributions
from steelyard.inference.probability.studentised_range import range_quantile
from steelyard.judge.analyses.scaling.shape import isotonic

EXACTLY = {"rtol": 1e-10, "atol": 0.0}
TAILS = np.array([1e-12, 1e-6, 0.0005, 0.0125, 0.05, 0.3, 0.5, 0.7, 0.975])
PLACES = np.array([-9.0, -2.5, -1e-3, 0.0, 0.4, 1.96, 6.0, 30.0])
FREEDOMS = np.array([1.0, 1.3, 2.0, 7 / 3, 11.0, 94.0, 1e4])


def test_the_normal_law_is_that_of_scipy() -> None:
    np.testing.assert_allclose(distributions.normal_above(PLACES), stats.norm.sf(PLACES), **EXACTLY)
    np.testing.assert_allclose(distributions.normal_bound(TAILS), stats.norm.isf(TAILS), **EXACTLY)
    np.testing.assert_allclose(
        distributions.normal_density(PLACES), stats.norm.pdf(PLACES), **EXACTLY
    )


def test_students_law_is_that_of_scipy() -> None:
    places, tails, df = PLACES[:, None], TAILS[:, None], FREEDOMS[None, :]
    np.testing.assert_allclose(distributions.t_above(places, df), stats.t.sf(places, df), **EXACTLY)
    np.testing.assert_allclose(distributions.t_bound(tails, df), stats.t.isf(tails, df), **EXACTLY)


def test_what_cannot_be_is_out_of_reach() -> None:
    assert distributions.normal_bound(0.0) == distributions.t_bound(0.0, 5) == np.inf
    assert distributions.normal_bound(1.0) == distributions.t_bound(1.0, 5) == -np.inf
    assert distributions.normal_above(np.inf) == distributions.t_above(np.inf, 5) == 0.0


def test_single_precision_is_judged_in_double() -> None:
    asked = np.array([3.0], dtype=np.float32)
    np.testing.assert_allclose(distributions.t_above(asked, 5), stats.t.sf(3.0, 5), **EXACTLY)
    np.testing.assert_allclose(distributions.normal_above(asked), stats.norm.sf(3.0), **EXACTLY)


def test_many_places_at_once_are_judged_as_each_alone() -> None:
    many = np.concatenate([np.linspace(-40, 40, 641), [np.inf, -np.inf]])
    for df in (1.0, 2.5, 40.0, 3e5):
        alone = [float(distributions.t_above(place, df)) for place in many]
        np.testing.assert_allclose(distributions.t_above(many, df), alone, rtol=1e-11)


@given(tail=st.floats(1e-200, 0.5), df=st.floats(1, 1e6))
def test_a_bound_of_students_law_leaves_the_tail_that_was_asked(tail: float, df: float) -> None:
    bound = float(distributions.t_bound(tail, df))
    assert distributions.t_above(bound, df) == pytest.approx(tail, rel=1e-9)


@pytest.mark.parametrize(("means", "df"), [(2, 1), (3, 7), (12, 300), (3, 15_000)])
def test_the_studentised_range_is_that_of_scipy(means: int, df: int) -> None:
    expected = stats.studentized_range.ppf(0.95, means, df)
    assert range_quantile(0.95, means, df) == pytest.approx(expected, rel=1e-6)


levels = st.lists(st.tuples(st.integers(-5, 5), st.integers(1, 4)), min_size=1, max_size=9)


@given(levels=levels)
def test_the_isotonic_fit_is_that_of_scipy(levels: list[tuple[int, int]]) -> None:
    values, weights = np.array(levels, dtype=np.float64).T
    expected = isotonic_regression(values, weights=weights).x
    np.testing.assert_allclose(isotonic(values, weights), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("between", [1, 3])
@pytest.mark.parametrize("within", [1, 4, 200])
def test_fishers_law_is_that_of_scipy(between: int, within: int) -> None:
    for x in (0.0, 0.2, 4.5, 900.0):
        expected = stats.f.sf(x, between, within)
        assert distributions.f_above(x, between, within) == pytest.approx(expected, rel=1e-10)
    for share in (0.05, 0.9, 0.95):
        expected = stats.f.ppf(share, between, within)
        assert distributions.f_quantile(share, between, within) == pytest.approx(
            expected, rel=1e-10
        )


@pytest.mark.parametrize("throws", [1, 6, 7, 48, 1000])
def test_binomial_figures_are_those_of_scipy(throws: int) -> None:
    for share in (0.025, 0.4, 0.9):
        assert distributions.binomial_quantile(share, throws) == stats.binom.ppf(share, throws, 0.5)
    for heads in (-1, 0, throws // 2, throws):
        expected = stats.binom.sf(heads, throws, 0.5)
        assert distributions.binomial_above(heads, throws) == pytest.approx(expected, rel=1e-10)


counts = st.integers(0, 40).flatmap(lambda of: st.tuples(st.integers(0, of), st.just(of)))


@given(one=counts, another=counts)
def test_fishers_exact_test_is_that_of_scipy(
    one: tuple[int, int], another: tuple[int, int]
) -> None:
    table = [[one[0], one[1] - one[0]], [another[0], another[1] - another[0]]]
    expected = stats.fisher_exact(table).pvalue
    assert distributions.counts_chance(one, another) == pytest.approx(expected, rel=1e-10)


def test_as_unlikely_a_table_on_the_other_side_counts() -> None:
    assert distributions.counts_chance((0, 3), (3, 3)) == pytest.approx(0.1)


def test_the_test_of_spreads_is_that_of_scipy() -> None:
    random = np.random.default_rng(5)
    for one, another in ((4, 4), (9, 30), (48, 47)):
        arms = random.normal(size=one), random.standard_t(3, size=another) * 1.5
        expected = stats.levene(*arms, center="median").pvalue
        assert distributions.spreads_chance(*arms) == pytest.approx(expected, rel=1e-10)


def test_spreads_that_noise_cannot_explain_have_no_chance() -> None:
    steady, wild = np.array([-1.0, 1.0, -1.0, 1.0]), np.array([-4.0, 4.0, -4.0, 4.0])
    assert distributions.spreads_chance(steady, wild) == 0.0
    assert distributions.spreads_chance(steady, steady) is None
