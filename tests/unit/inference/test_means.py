"""A bound on the difference of means of what counts events."""

from __future__ import annotations

import numpy as np
import pytest

from steelyard.inference.means import mean_is_above

MARGIN = 0.001


def test_shares_far_within_the_margin_hold_it() -> None:
    few, fewer = np.array([-0.0002, -0.0003, -0.0001] * 4), np.array([-0.0001, -0.0002, 0.0] * 4)
    assert mean_is_above(few, fewer, -MARGIN, 0.025)
    assert not mean_is_above(few, fewer, 0.0, 0.025)


def test_without_any_event_the_margin_is_held() -> None:
    assert mean_is_above(np.zeros(4), np.zeros(4), -MARGIN, 0.025)


@pytest.mark.parametrize(("values", "level"), [(1, 0.025), (4, 0.0)])
def test_of_one_visit_or_without_a_level_nothing_is_shown(values: int, level: float) -> None:
    assert not mean_is_above(np.zeros(values), np.zeros(4), -MARGIN, level)


def test_events_in_few_visits_count_though_most_visits_have_none() -> None:
    clustered = np.array([0.0] * 10 + [-0.012, 0.0])
    assert not mean_is_above(clustered, np.zeros(12), -MARGIN, 0.025)


def test_few_events_by_luck_are_not_sure_to_be_few() -> None:
    """At the margin, where errors cluster so that Welch's test shows too much in 6.7 %."""
    random = np.random.default_rng(7)
    held = 0
    for _ in range(2_000):
        worse, better = random.gamma(1.5, 0.001, 24), random.gamma(0.5, 0.001, 24)
        held += mean_is_above(-worse, -better, -MARGIN, 0.05)
    assert 0 < held / 2_000 <= 0.05
