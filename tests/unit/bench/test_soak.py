"""A long run shows growth by the medians of its ends; a short one shows nothing."""

from __future__ import annotations

import pytest
from bench.engine.process import Unmeasurable
from bench.engine.soak import SETTLE_S, growth


def test_what_happens_at_the_start_is_no_growth() -> None:
    found = growth([1.0] * SETTLE_S + [100.0] * 50)
    assert found["growth_percent"] == 0


def test_growth_is_that_of_the_last_tenth() -> None:
    found = growth([0.0] * SETTLE_S + [100.0] * 10 + [105.0] * 80 + [110.0] * 10)
    assert found == {"growth_percent": 10, "first_bytes": 100, "last_bytes": 110}


def test_a_single_outlier_is_no_growth() -> None:
    found = growth([0.0] * SETTLE_S + [100.0] * 99 + [500.0])
    assert found["growth_percent"] == 0


def test_a_short_run_is_no_figure() -> None:
    with pytest.raises(Unmeasurable, match="too short"):
        growth([1.0] * (SETTLE_S + 9))
