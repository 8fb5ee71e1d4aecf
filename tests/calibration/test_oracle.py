"""Who knows the noise: visits beside those that another simulation found, and the error rate."""

from __future__ import annotations

import numpy as np
import pytest
from tests.calibration.oracle import FIRST_LOOK, SPENDING, limits, mean_visits, scores
from tests.calibration.tasks import EFFECTS

FOUND_ELSEWHERE = (37.1, 30.6)
"""Mean visits for nothing above the margin and at it, by one spending function for both."""


def test_who_knows_the_noise_needs_hardly_fewer_visits_than_was_found_elsewhere() -> None:
    known = [mean_visits(effect, 5_000) for effect in EFFECTS]
    for own, theirs in zip(known, FOUND_ELSEWHERE, strict=False):
        assert 0.9 * theirs <= own <= 1.02 * theirs
    assert known == sorted(known, reverse=True)
    assert known[-1] >= FIRST_LOOK


@pytest.mark.parametrize("spending", SPENDING)
def test_all_looks_together_keep_the_error_rate(spending: object) -> None:
    shares = 0.05 * np.asarray(spending(np.arange(8.0, 97.0)))  # type: ignore[operator]
    found = limits(scores(10_000, 0), shares)
    fresh = scores(10_000, 1)
    assert np.mean((fresh > found).any(axis=1)) == pytest.approx(0.05, abs=0.012)
