"""Two-level fractions: every effect of one factor stands clear of every pair."""

from __future__ import annotations

import numpy as np
import pytest

from steelyard.study.fractions import (
    MOST_FACTORS,
    defining_words,
    fold_over,
    letters,
    principal,
    relation,
    resolution,
    runs,
)

FRACTIONS = range(5, MOST_FACTORS + 1)


@pytest.mark.parametrize("factors", range(1, 5))
def test_up_to_four_factors_every_combination_is_measured_once(factors: int) -> None:
    found = runs(principal(factors))
    assert len(set(found)) == len(found) == 2**factors
    assert resolution(principal(factors)) is None


@pytest.mark.parametrize("factors", FRACTIONS)
def test_no_fraction_is_below_resolution_four(factors: int) -> None:
    assert (resolution(principal(factors)) or 0) >= 4


@pytest.mark.parametrize("factors", FRACTIONS)
def test_columns_of_factors_are_orthogonal_to_each_other_and_to_every_pair(factors: int) -> None:
    signs = 2 * np.array(runs(principal(factors))) - 1
    pairs = [signs[:, i] * signs[:, j] for i in range(factors) for j in range(i)]
    for i in range(factors):
        assert signs[:, i].sum() == 0
        assert all((signs[:, i] * pair).sum() == 0 for pair in pairs)


@pytest.mark.parametrize("factors", FRACTIONS)
def test_every_defining_word_is_constant_in_the_fraction(factors: int) -> None:
    design = fold_over(principal(factors))
    signs = 2 * np.array(runs(design)) - 1
    for word, sign in defining_words(design).items():
        chosen = [i for i in range(factors) if word >> i & 1]
        assert (signs[:, chosen].prod(axis=1) == sign).all(), letters(word)


@pytest.mark.parametrize("factors", FRACTIONS)
def test_the_fold_over_shares_no_run_with_the_fraction(factors: int) -> None:
    first = principal(factors)
    assert not set(runs(first)) & set(runs(fold_over(first)))


def test_a_half_of_five_factors_and_its_fold_over_are_all_combinations() -> None:
    first = principal(5)
    assert len({*runs(first), *runs(fold_over(first))}) == 32
    assert relation(first) == "I = ABCDE"
    assert relation(fold_over(first)) == "I = -ABCDE"


def test_the_fold_over_of_six_factors_parts_most_pairs() -> None:
    """A reversal of all signs would give a fraction of resolution IV back to itself."""
    first = defining_words(principal(6))
    other = defining_words(fold_over(principal(6)))
    assert sum(first[word] == other[word] for word in first) == 1


def test_twelve_factors_are_refused() -> None:
    with pytest.raises(ValueError, match="12 factors"):
        principal(12)
