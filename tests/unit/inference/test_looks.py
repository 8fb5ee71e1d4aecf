"""When there is a look: after each of the first visits, then at growing distances."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import norm

from steelyard.inference.exact import OneSided, Pool, SequentialTests
from steelyard.inference.normal_boundary import levels
from steelyard.inference.randomisation import big_stick
from steelyard.inference.ratio_tests import Inference
from steelyard.inference.sequential import Memory
from steelyard.inference.spending import EVERY_UNTIL, last_look, looks_until, spent_by_second
from steelyard.inference.stream import Order, Stream

LONG = 300


def test_looks_follow_each_visit_at_first_and_then_a_fiftieth_more() -> None:
    looks = looks_until(1_000, 1_000)
    assert looks[:93] == tuple(range(8, 101))
    assert all(after - before <= before / EVERY_UNTIL for before, after in pairwise(looks[93:]))
    assert len(looks) < 240


@pytest.mark.parametrize("budget", [101, 199, 1_000, 4_999])
def test_there_is_a_look_at_the_budget_and_at_the_extended_one_and_none_beyond(budget: int) -> None:
    looks = looks_until(3 * budget, budget)
    assert budget in looks
    assert looks[-1] == 2 * budget


def test_looks_until_some_visits_are_the_first_of_all() -> None:
    every = looks_until(2_000, 700)
    for visits in range(1, 1_400):
        assert looks_until(visits, 700) == tuple(look for look in every if look <= visits)


def test_a_session_asks_after_each_of_its_first_visits_and_where_the_tests_look_later() -> None:
    asked = sorted({last_look(visits) for visits in range(1, 1_001)})
    assert asked[:100] == list(range(1, 101))
    assert asked[7:] == list(looks_until(asked[-1], 2_000))


def test_at_looks_far_apart_all_levels_together_spend_what_they_may() -> None:
    asked = levels(LONG, 0.05, extended=False)
    looks = np.array(looks_until(LONG, LONG))
    sums = np.cumsum(np.random.default_rng(3).normal(size=(20_000, LONG)), axis=1)
    crossed = (sums[:, looks - 1] / np.sqrt(looks) > norm.isf(asked)).any(axis=1).mean()
    assert crossed == pytest.approx(spent_by_second(LONG, LONG, 0.05), abs=0.004)


def long_study(effect: float, visits: int) -> Stream:
    random = np.random.default_rng(11)
    simulated, signs = big_stick(400, LONG, random), big_stick(1, LONG, random)[:, 0]
    values = (random.normal(0, 0.1, LONG) + effect * (signs > 0))[:visits]
    order = Order("long", tuple(range(visits)), tuple(bool(s > 0) for s in signs[:visits]))
    pool = Pool(signs[:visits], simulated[:visits])
    return Stream(values, signs[:visits] > 0, pool, LONG, order)


@pytest.mark.parametrize("effect", [0.0, 0.04])
def test_more_visits_are_judged_as_if_anew_where_looks_are_far_apart(effect: float) -> None:
    memory = Memory()
    for visits in (97, 155, 101, 203, 204, 299, 300):
        kept, anew = (
            Inference.of(long_study(effect, visits), memory),
            Inference.of(long_study(effect, visits)),
        )
        assert kept.decide(0.03, 0.05) == anew.decide(0.03, 0.05)
        assert kept.sizes(0.03, (0.025, 0.05), effect) == anew.sizes(0.03, (0.025, 0.05), effect)


def test_a_test_crosses_at_a_look_and_a_visit_in_between_changes_nothing() -> None:
    stream = long_study(0.04, LONG)
    looks = looks_until(LONG, LONG)
    by_visit, whole = (
        SequentialTests([OneSided(0, 1, 0.025)], stream.pool.paths),
        SequentialTests([OneSided(0, 1, 0.025)], stream.pool.paths),
    )
    for visits in range(1, LONG + 1):
        pool = stream.pool.first(visits)
        by_visit.advance(stream.values[None, :visits], pool, LONG)
    whole.advance(stream.values[None, :], stream.pool, LONG)
    assert by_visit.crossed == whole.crossed
    assert whole.crossed[0] in looks
    assert (whole.crossed[0] or 0) > 100
