"""The rules of other tools are theirs: by hand where they are simple, against SciPy where not."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import ttest_ind
from tests.calibration.rivals import RIVALS, phoronix, welch

RNG = np.random.default_rng(5)


def test_welch_is_that_of_scipy() -> None:
    noise = RNG.normal(0, 0.02, (200, 20))
    said = welch(10)(noise, 0.015, RNG)
    raw = np.exp(noise + 0.015 * (np.arange(20) >= 10))
    chance = ttest_ind(raw[:, 10:], raw[:, :10], axis=1, equal_var=False).pvalue
    assert ((said.signs != 0) == (chance < 0.05)).all()
    assert (said.trials == 20).all()


def test_phoronix_stops_each_system_when_it_is_precise_and_reads_bars_of_one_error() -> None:
    quiet, loud = [0.00, 0.01, -0.01], [0.3, -0.3, 0.3, 0.0, 0.001]
    noise = np.array([quiet + quiet + [0.0] * 24, loud + [0.0] * 25])
    said = phoronix(noise, 0.05, RNG)
    assert said.trials[0] == 6
    assert said.trials[1] > 6
    assert said.signs[0] == 1


@pytest.mark.parametrize("rule", RIVALS)
def test_every_rule_finds_a_difference_of_a_half_and_none_where_nothing_varies(rule: str) -> None:
    noise = RNG.normal(0, 0.02, (50, 96))
    assert (RIVALS[rule](noise, 0.5, RNG).signs == 1).all()
    assert (RIVALS[rule](noise, -0.5, RNG).signs == -1).all()
    assert (RIVALS[rule](np.zeros((5, 96)), 0.0, RNG).signs == 0).all()
