"""The engine ``normal``: its boundary against golden figures, and what it says of pairs."""

from __future__ import annotations

import math

import numpy as np
import pytest

from steelyard.errors import AnalysisError
from steelyard.inference.paired_t import FIRST_PAIRS, boundary, contrasts
from steelyard.inference.randomisation import random_pairs
from steelyard.inference.sequential import VerdictWord
from steelyard.judge import judge_trials
from steelyard.judge.kinds.caveats import ErrorRateByNormality

PAIRS = (5, 6, 7, 8, 10, 12, 16, 20, 24, 32, 48)
TWO_SIDED_5 = (5.73, 4.63, 4.12, 3.85, 3.55, 3.38, 3.17, 3.07, 3.00, 2.94, 2.88)
EACH_SIDE_5 = (4.71, 3.86, 3.50, 3.28, 3.03, 2.90, 2.75, 2.68, 2.62, 2.57, 2.52)


@pytest.mark.parametrize(("alpha", "golden"), [(0.025, TWO_SIDED_5), (0.05, EACH_SIDE_5)])
def test_the_boundary_is_the_golden_one(alpha: float, golden: tuple[float, ...]) -> None:
    found = boundary(48, alpha)[np.array(PAIRS) - FIRST_PAIRS]
    assert found == pytest.approx(golden, rel=0.03)


def pairs(visits: int, effect: float, seed: int = 1) -> tuple[list[str], np.ndarray]:
    random = np.random.default_rng(seed)
    other = random_pairs(1, visits, random)[:, 0] > 0
    values = 0.01 * np.arange(visits) + random.normal(0, 0.01, visits) + effect * other
    return ["b" if each else "a" for each in other], np.exp(values)


@pytest.mark.parametrize(
    ("effect", "word"),
    [(0.06, VerdictWord.FASTER), (-0.06, VerdictWord.SLOWER), (0.0, VerdictWord.EQUIVALENT)],
)
def test_pairs_are_judged_under_a_drift_with_the_assumption_said(
    effect: float, word: VerdictWord
) -> None:
    found = judge_trials(*pairs(60, effect), baseline="a", design="pairs", engine="normal")
    verdict = found.of("b")
    assert verdict.word is word
    assert verdict.low_log is not None
    assert verdict.high_log is not None
    assert verdict.low_log < effect < verdict.high_log
    assert any(isinstance(each, ErrorRateByNormality) for each in found.caveats)


def test_no_word_falls_before_the_fifth_pair() -> None:
    verdict = judge_trials(*pairs(9, 0.3), baseline="a", design="pairs", engine="normal").of("b")
    assert verdict.word is VerdictWord.UNDECIDED
    assert verdict.low_log is None


def test_a_contrast_is_other_less_baseline_whichever_came_first() -> None:
    found = contrasts(np.array([1.0, 3.0, 5.0, 4.0, 9.0]), np.array([0, 1, 1, 0, 1], dtype=bool))
    assert found.tolist() == [2.0, 1.0]


def test_another_order_than_pairs_is_refused() -> None:
    systems, response = pairs(20, 0.0)
    with pytest.raises(AnalysisError, match="normal"):
        judge_trials(systems, response, baseline="a", design="none", engine="normal")


def test_interval_and_estimate_are_those_of_the_pairs() -> None:
    systems, response = pairs(40, 0.03)
    verdict = judge_trials(systems, response, baseline="a", design="pairs", engine="normal").of("b")
    known = contrasts(np.log(response), np.array([each == "b" for each in systems]))
    assert verdict.estimate_log == pytest.approx(known.mean())
    error = known.std(ddof=1) / math.sqrt(20)
    low = known.mean() - boundary(48, 0.025)[20 - FIRST_PAIRS] * error
    assert verdict.low_log is not None
    assert verdict.low_log >= low
