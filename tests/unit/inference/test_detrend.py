"""Low-frequency trends: what is taken for one, and that nothing else is."""

from __future__ import annotations

import numpy as np
import pytest

from steelyard.inference.noise.detrend import basis, movements, slow_part


@pytest.mark.parametrize("visits", [8, 12, 47, 48, 96, 300, 2_000])
def test_trends_are_orthonormal_and_of_a_number_that_visits_alone_give(visits: int) -> None:
    columns = basis(visits)
    assert columns.shape == (visits, 1 + movements(visits))
    assert np.allclose(columns.T @ columns, np.eye(1 + movements(visits)), atol=1e-11)
    assert np.ptp(columns[:, 0]) == 0


@pytest.mark.parametrize("visits", [48, 96, 2_000])
def test_a_line_and_a_slow_cosine_are_trends_and_a_quick_swing_is_none(visits: int) -> None:
    place = np.arange(visits)
    slow = np.cos(np.pi * (place + 0.5) / visits)
    for trend in (3.0 + 0.2 * place, slow):
        assert np.allclose(slow_part(trend[None, :]), trend, atol=1e-9)
    swing = np.where(place % 2, 1.0, -1.0)
    assert np.abs(slow_part(swing[None, :])).max() < 0.2
