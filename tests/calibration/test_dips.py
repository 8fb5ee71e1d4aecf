"""Dips of known size are held by the interval of a cell as often as it promises."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.calibration.dips import Case, cases, held, trial

STUDIES, TRIALS = 40, 12
FEWEST = 30 / STUDIES
"""Of 40 studies, each right with 95 %, so few are right once in 100,000."""


@pytest.mark.parametrize("case", cases(), ids=lambda case: f"{case.name}, {case.rate_per_s:g}")
def test_the_interval_of_a_cell_holds_the_dip_that_was_injected(case: Case) -> None:
    shares = held(case, STUDIES, TRIALS, seed=1)
    assert min(shares.values()) >= FEWEST, shares


def test_a_dip_that_is_not_there_is_not_found() -> None:
    none = replace(cases()[0], injected_s=0.0)
    random = np.random.default_rng(1)
    longest = [trial(none, random)["duration"] for _ in range(TRIALS)]
    assert max(each for each in longest if each is not None) < 0.05
