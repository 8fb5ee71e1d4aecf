"""The coin and the blocks: their exact distribution, and that it is the seed's."""

from __future__ import annotations

import itertools
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from steelyard.plan.order import MOST_SEED, TOLERANCE, big_stick, blocks, draw_seed, generator

DRAWS = 20_000


def exact_big_stick(visits: int) -> dict[tuple[int, ...], Fraction]:
    """Probability of each of the 2^visits paths, from the definition alone."""
    paths = {}
    for path in itertools.product((0, 1), repeat=visits):
        probability, lead = Fraction(1), 0
        for side in path:
            forced = abs(lead) == TOLERANCE
            towards = (lead > 0) == (side == 0)
            probability *= Fraction(int(towards)) if forced else Fraction(1, 2)
            lead += 1 if side else -1
        paths[path] = probability
    return paths


def test_the_probabilities_of_all_paths_sum_to_one() -> None:
    assert sum(exact_big_stick(6).values()) == 1


def test_every_path_of_six_visits_comes_as_often_as_it_should() -> None:
    random = generator(0, "test: every path of six visits")
    drawn = Counter(tuple(int(s) for s in big_stick(random, 6)) for _ in range(DRAWS))
    exact = exact_big_stick(6)
    alpha = 1e-6 / len(exact)
    for path, probability in exact.items():
        low, high = stats.binom.interval(1 - alpha, DRAWS, float(probability))
        assert low <= drawn[path] <= high, path


def test_a_path_that_leads_by_three_never_comes() -> None:
    random = generator(0, "test: leads by three")
    impossible = {path for path, probability in exact_big_stick(6).items() if probability == 0}
    drawn = {tuple(int(s) for s in big_stick(random, 6)) for _ in range(5_000)}
    assert impossible
    assert not drawn & impossible


def test_every_order_of_a_block_comes_as_often_as_every_other() -> None:
    random = generator(0, "test: orders of a block")
    drawn = Counter(blocks(random, 3, DRAWS))
    orders = list(itertools.permutations(range(3)))
    assert set(drawn) == set(orders)
    low, high = stats.binom.interval(1 - 1e-6 / 6, DRAWS, 1 / 6)
    assert all(low <= drawn[order] <= high for order in orders)


def test_equal_seed_and_purpose_give_equal_draws() -> None:
    first, second = generator(5, "coin"), generator(5, "coin")
    assert np.array_equal(first.integers(0, 2**63, 100), second.integers(0, 2**63, 100))


@pytest.mark.parametrize(("seed", "purpose"), [(6, "coin"), (5, "paths")])
def test_another_seed_or_purpose_gives_other_draws(seed: int, purpose: str) -> None:
    first, second = generator(5, "coin"), generator(seed, purpose)
    assert not np.array_equal(first.integers(0, 2**63, 100), second.integers(0, 2**63, 100))


def test_the_stream_of_a_seed_never_changes() -> None:
    # An old run is replayed from its seed; another stream would judge it by coins never thrown.
    assert big_stick(generator(1, "coin"), 20).tolist() == FIRST_TWENTY


FIRST_TWENTY = [0, 1, 0, 0, 1, 0, 1, 0, 1, 0, 1, 1, 1, 0, 0, 0, 1, 0, 1, 1]


def test_a_drawn_seed_is_whole_in_every_json_reader() -> None:
    assert all(1 <= draw_seed() <= MOST_SEED for _ in range(100))
