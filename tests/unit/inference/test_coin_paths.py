from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

from steelyard.inference.randomisation import balanced_fours, big_stick, draw, random_pairs
from steelyard.inference.spending import spent
from steelyard.plan import order


def law_of_big_stick(length: int) -> dict[tuple[int, ...], float]:
    """Probability of every sequence, by following the coin's definition."""
    law: dict[tuple[int, ...], float] = {(): 1.0}
    for _ in range(length):
        longer: dict[tuple[int, ...], float] = {}
        for path, chance in law.items():
            lead = sum(path)
            if abs(lead) == 2:
                longer[(*path, -1 if lead > 0 else 1)] = chance
            else:
                longer[(*path, 1)] = longer[(*path, -1)] = chance / 2
        law = longer
    return law


def test_simulated_sequences_follow_the_law_of_the_big_stick_design() -> None:
    drawn = big_stick(40_000, 6, np.random.default_rng(1))
    seen = Counter(map(tuple, drawn.T.tolist()))
    law = law_of_big_stick(6)
    assert set(seen) == set(law)
    for path, chance in law.items():
        assert seen[path] / 40_000 == pytest.approx(chance, abs=0.006)


def test_the_plan_draws_its_order_by_the_same_law() -> None:
    random = np.random.default_rng(2)
    seen: Counter[tuple[int, ...]] = Counter()
    for _ in range(6_000):
        tosses = order.big_stick(random, 4)
        seen[tuple(int(toss) * 2 - 1 for toss in tosses)] += 1
    law = law_of_big_stick(4)
    assert set(seen) == set(law)
    for path, chance in law.items():
        assert seen[path] / 6_000 == pytest.approx(chance, abs=0.03)


def test_no_system_ever_leads_by_more_than_two() -> None:
    drawn = big_stick(500, 50, np.random.default_rng(3))
    assert np.abs(np.cumsum(drawn, axis=0)).max() == 2


def test_pairs_hold_each_system_once_in_either_order() -> None:
    drawn = random_pairs(2_000, 10, np.random.default_rng(4))
    assert (drawn[0::2] == -drawn[1::2]).all()
    assert drawn[0].mean() == pytest.approx(0, abs=0.1)


def test_fours_hold_each_system_twice_in_each_of_six_orders() -> None:
    drawn = balanced_fours(6_000, 8, np.random.default_rng(5))
    seen = Counter(map(tuple, drawn[4:].T.tolist()))
    assert len(seen) == 6
    assert all(sum(order) == 0 for order in seen)
    for count in seen.values():
        assert count / 6_000 == pytest.approx(1 / 6, abs=0.02)


def test_the_plan_orders_any_two_of_its_systems_by_the_same_law() -> None:
    random = np.random.default_rng(6)
    seen: Counter[tuple[int, ...]] = Counter()
    for block in order.blocks(random, 4, 6_000, order.ROUNDS):
        seen[tuple(1 if system == 3 else -1 for system in block if system in {1, 3})] += 1
    assert len(seen) == 6
    for count in seen.values():
        assert count / 6_000 == pytest.approx(1 / 6, abs=0.02)


def test_a_seed_always_draws_the_same_paths_and_no_one_can_change_them() -> None:
    paths = draw(11, "big_stick", 12, 50)
    draw.cache_clear()
    assert (draw(11, "big_stick", 12, 50) == paths).all()
    assert not paths.flags.writeable


def test_nine_tenths_of_the_error_rate_are_spent_by_the_budget() -> None:
    assert spent(96, 96, 0.05) == pytest.approx(0.045)
    assert spent(192, 96, 0.05) == pytest.approx(0.05)


def test_the_first_looks_may_spend_a_third() -> None:
    assert spent(8, 96, 0.05) == pytest.approx(0.018)


def test_every_look_up_to_twice_the_budget_has_something_of_its_own_to_spend() -> None:
    shares = [spent(n, 30, 0.05) for n in range(8, 61)]
    assert all(later > sooner for sooner, later in pairwise(shares))


def test_spending_ends_with_the_whole_rate() -> None:
    shares = [spent(n, 30, 0.05) for n in range(60, 80)]
    assert shares == sorted(shares)
    assert shares[-1] == pytest.approx(0.05)
