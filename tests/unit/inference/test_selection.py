"""Levels of many candidates by one regression, and which of them remain."""

from __future__ import annotations

import math

import numpy as np
import pytest

from steelyard.inference.probability.distributions import normal_above
from steelyard.inference.selection import Levels, Selection, closing_height, levels, look_is_due

MARGIN = math.log1p(0.02)


def measured(
    sizes: np.ndarray, blocks: int, noise: np.ndarray, seed: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    order = np.concatenate([random.permutation(len(sizes)) for _ in range(blocks)])
    return sizes[order] + noise[: len(order)], order


def exact(estimates: list[float], variance: float) -> Levels:
    count = len(estimates)
    return Levels(np.array(estimates), np.eye(count) * variance / 2, math.inf, 0.01)


@pytest.mark.parametrize("rate", [0.05, 0.05 / 49, 0.05 / 499])
def test_a_brownian_motion_crosses_the_closing_line_at_the_rate(rate: float) -> None:
    height = closing_height(rate)
    crossing = math.exp(-height) / 2 + float(normal_above(math.sqrt(2 * height)))
    assert crossing == pytest.approx(rate, rel=1e-9)


def test_simulated_paths_cross_the_closing_line_less_often_than_the_rate() -> None:
    height, steps = closing_height(0.05), 500
    end = 2 * height
    paths = np.cumsum(np.random.default_rng(1).normal(0, math.sqrt(end / steps), (4000, steps)), 1)
    line = height + np.linspace(end / steps, end, steps) / 2
    assert 0.03 < np.mean((paths >= line).any(axis=1)) < 0.055


def test_a_trend_is_removed_from_differences() -> None:
    sizes = np.array([0.0, 0.01, 0.02, 0.05])
    values, order = measured(sizes, 10, 0.02 * np.arange(40))
    found = levels(values, order, 4)
    assert found.leads[3] == pytest.approx(sizes[3] - sizes, abs=1e-9)


def test_differences_are_more_precise_where_a_visit_says_what_the_next_will_be() -> None:
    random = np.random.default_rng(3)
    noise = [0.0]
    for shock in random.normal(0, 0.02 * math.sqrt(1 - 0.9**2), 400):
        noise.append(0.9 * noise[-1] + shock)
    alike = levels(*measured(np.zeros(40), 10, random.normal(0, 0.02, 400)), 40)
    lasting = levels(*measured(np.zeros(40), 10, np.array(noise)), 40)
    assert lasting.variances[0, 1] < alike.variances[0, 1] / 3


def test_a_candidate_that_varies_more_has_a_larger_variance_and_none_has_a_smaller() -> None:
    random = np.random.default_rng(5)
    values, order = measured(np.zeros(20), 8, random.normal(0, 0.02, 160))
    plain = np.diag(levels(values, order, 20).covariance)
    noisy = np.diag(levels(values * np.where(order == 7, 6.0, 1.0), order, 20).covariance)
    assert noisy[7] > 5 * np.median(noisy)
    assert plain.min() > 0.9 * np.median(plain)


def test_a_large_lead_drops_the_others_at_once() -> None:
    selection = Selection(3, MARGIN, 0.05)
    dropped = selection.look(exact([0.0, 0.5, 0.01], 1e-5))
    assert (selection.best, selection.remaining) == (1, [1])
    assert dropped == {0: 1, 2: 1}


def test_nothing_is_dropped_while_the_noise_is_large() -> None:
    selection = Selection(3, MARGIN, 0.05)
    assert not selection.look(exact([0.0, 0.05, 0.01], 0.01))
    assert selection.remaining == [0, 1, 2]
    assert selection.further_blocks(exact([0.0, 0.0, 0.0], 0.01), 2) > 100


def test_equal_candidates_end_when_the_line_has_closed() -> None:
    selection = Selection(4, MARGIN, 0.05)
    height = closing_height(0.05 / 3)
    selection.look(exact([0.0] * 4, 0.99 * MARGIN**2 / (2 * height)))
    assert selection.best is not None


def test_one_who_left_against_another_comes_back_until_the_last_is_no_worse() -> None:
    selection = Selection(3, MARGIN, 0.05)
    first = Levels(np.array([0.0, 0.06, 0.05]), np.diag([1e-5, 1e-5, 1e-2]), math.inf, 0.01)
    selection.look(first)
    assert selection.remaining == [1, 2]
    then = Levels(np.array([0.0, -0.1, 0.01]), np.diag([1e-3, 1e-6, 1e-6]), math.inf, 0.01)
    selection.look(then)
    assert selection.remaining == [2, 0]


def test_the_last_one_is_visited_alone_while_its_own_level_is_the_one_least_known() -> None:
    selection = Selection(3, MARGIN, 0.05)
    selection.settled[1, 2] = True
    own = np.diag([1e-6, 1e-6, 1e-2])
    dropped = selection.look(Levels(np.array([0.0, 0.03, 0.2]), own, math.inf, 0.01))
    assert dropped == {0: 1, 1: 2}
    assert selection.remaining == [2]
    assert selection.best is None


def test_who_cannot_be_measured_is_withdrawn_and_later_ones_move_up() -> None:
    selection = Selection(4, MARGIN, 0.05)
    selection.look(exact([0.0, 0.5, 0.49, 0.5], 1e-3))
    selection.withdraw(1)
    assert selection.remaining == [1, 2]
    assert selection.settled.shape == (3, 3)


def test_looks_are_taken_whenever_visits_have_grown_by_a_fiftieth() -> None:
    assert not look_is_due(1, 50, 0)
    assert look_is_due(2, 100, 0)
    assert not look_is_due(300, 1019, 1000)
    assert look_is_due(301, 1020, 1000)
