"""A validation that nothing can fail proves nothing: each planted mistake must fail it."""

from __future__ import annotations

import pytest
from tests.calibration.mutations import MUTATIONS, PASSES, Mutation, is_seen

pytestmark = pytest.mark.extended


def test_there_are_at_least_twenty_five_and_each_has_words_of_its_own() -> None:
    assert len({each.words for each in MUTATIONS}) == len(MUTATIONS) >= 25


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda each: each.words)
def test_a_planted_mistake_is_seen(mutation: Mutation) -> None:
    assert is_seen(mutation)


@pytest.mark.parametrize("number", range(len(PASSES)))
def test_the_judge_as_shipped_passes(number: int) -> None:
    assert PASSES[number]() is None
