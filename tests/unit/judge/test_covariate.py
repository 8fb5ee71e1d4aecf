"""What was known of the machine before each visit: sooner verdicts, no more of them wrong."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from steelyard.errors import AnalysisError
from steelyard.inference.exact import OneSided, Pool, SequentialTests
from steelyard.inference.randomisation import big_stick
from steelyard.inference.weights import adjusted
from steelyard.judge import TrialsVerdict, judge_trials

VISITS = 40


def study(seed: int, effect: float = 0.0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Signs, logs and a covariate that explains 15/16 of their variance."""
    random = np.random.default_rng(seed)
    signs = big_stick(1, VISITS, random)[:, 0]
    machine = random.normal(0, 0.02, VISITS)
    values = machine + random.normal(0, 0.005, VISITS) + effect * (signs > 0)
    return signs, values, machine


def judged(covariate: np.ndarray | None, seed: int) -> TrialsVerdict:
    signs, values, _ = study(seed, effect=0.02)
    systems = ["b" if sign > 0 else "a" for sign in signs]
    beside = None if covariate is None else np.exp(covariate)
    return judge_trials(systems, np.exp(values), baseline="a", covariate=beside, paths=2_000)


def test_a_covariate_that_explains_the_noise_decides_sooner_and_narrows_the_interval() -> None:
    stops, widths = [], []
    for seed in range(3):
        for covariate in (None, study(seed, effect=0.02)[2]):
            verdict = judged(covariate, seed).of("b")
            assert verdict.low_log is not None
            assert verdict.high_log is not None
            stops.append(verdict.decided_at_visit or VISITS + 1)
            widths.append(verdict.high_log - verdict.low_log)
    assert sum(stops[1::2]) < 0.6 * sum(stops[0::2])
    assert sum(widths[1::2]) < 0.5 * sum(widths[0::2])


def test_with_a_covariate_equal_systems_are_distinguished_no_more_often() -> None:
    random = np.random.default_rng(1)
    simulated = big_stick(1_000, VISITS, random)
    tests = (OneSided(0, 1, 0.025), OneSided(0, -1, 0.025))
    wrong = 0
    for seed in range(150):
        signs, values, machine = study(seed)
        pool = Pool(signs, simulated)
        running = SequentialTests(tests, pool.paths)
        running.advance(values[None, :], pool, VISITS, covariate=machine)
        wrong += running.crossed != [None, None]
    assert wrong <= binom.ppf(0.99, 150, 0.05)


def test_the_slope_knows_nothing_of_the_order() -> None:
    _, values, machine = study(3)
    turned = np.random.default_rng(2).permutation(8)
    straight = adjusted(values[None, :8], machine[:8])
    assert adjusted(values[None, turned], machine[turned])[0] == pytest.approx(straight[0, turned])
    assert np.var(straight) < 0.2 * np.var(values[:8])


def test_a_covariate_that_never_changes_changes_nothing() -> None:
    assert judged(np.full(VISITS, 3.0), 1) == judged(None, 1)


def test_a_covariate_that_is_no_number_is_refused_with_its_trial() -> None:
    machine = study(1)[2].copy()
    machine[4] = np.nan
    with pytest.raises(AnalysisError, match="trial 5: the covariate is not a number"):
        judged(machine, 1)


def test_a_covariate_is_given_as_it_was_measured_and_not_as_a_logarithm() -> None:
    with pytest.raises(AnalysisError, match="trial 2: the covariate is negative, and its"):
        judge_trials(
            ["a", "b"] * 6, np.arange(1.0, 13.0), baseline="a", covariate=np.linspace(1, -20, 12)
        )
