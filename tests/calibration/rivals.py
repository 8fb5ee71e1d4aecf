"""Rules that people use today, on the studies that the judge sees: same noise, same machine time.

Each takes the noise of ``studies`` (studies, visits) in natural logarithms, the true effect, and a
random stream for what the rule itself draws. It gives, for each study, the sign of the difference
it declares (0 for none) and how many trials it took. Numbers are those of the tools' sources.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.stats import mannwhitneyu, t
from tests.calibration.noises import Values

Signs = npt.NDArray[np.int64]


class Said(NamedTuple):
    """Signs of the declared differences, and trials taken."""

    signs: Signs
    trials: npt.NDArray[np.int64]


Rule = Callable[[Values, float, np.random.Generator], Said]

_LEVEL = 0.05
_PHORONIX_RUNS = 3
_PHORONIX_MOST = 15
_PHORONIX_SD = 0.03
_FIRST_PEEK = 3
_PEEKED_PAIRS = 30


def _arms(noise: Values, effect: float, each: int) -> tuple[Values, Values]:
    """All runs of the baseline, then all of the other: the order of most tools. Raw figures."""
    return np.exp(noise[:, :each]), np.exp(noise[:, each : 2 * each] + effect)


def _said(difference: Values, declared: npt.NDArray[np.bool_], trials: int) -> Said:
    signs = np.where(declared, np.sign(difference), 0).astype(np.int64)
    return Said(signs, np.full(len(signs), trials))


def welch(each: int) -> Rule:
    """Welch's t test at 5 % on all runs of one, then all of the other (hyperfine's script)."""

    def rule(noise: Values, effect: float, _rng: np.random.Generator) -> Said:
        one, other = _arms(noise, effect, each)
        gap = other.mean(axis=1) - one.mean(axis=1)
        shares = [arm.var(axis=1, ddof=1) / each for arm in (one, other)]
        error2 = np.maximum(sum(shares), 1e-30)
        freedom = error2**2 / np.maximum(sum(s**2 for s in shares) / (each - 1), error2**2 / 1e6)
        limit = t.isf(_LEVEL / 2, freedom) * np.sqrt(error2)
        return _said(gap, np.abs(gap) > limit, 2 * each)

    return rule


def hyperfine(noise: Values, effect: float, _rng: np.random.Generator) -> Said:
    """10 + 10 runs, read as hyperfine prints them: the ratio and its propagated deviation."""
    one, other = _arms(noise, effect, 10)
    ratio = other.mean(axis=1) / one.mean(axis=1)
    shares = [arm.std(axis=1, ddof=1) / arm.mean(axis=1) for arm in (one, other)]
    deviation = ratio * np.hypot(*shares)
    return _said(ratio - 1, np.abs(ratio - 1) > deviation, 20)


def benchstat(noise: Values, effect: float, _rng: np.random.Generator) -> Said:
    """10 + 10 runs, Mann and Whitney's test at 5 %."""
    one, other = _arms(noise, effect, 10)
    tied = np.array([len(np.unique(row)) < 20 for row in np.hstack([one, other])])
    chance = np.ones(len(one))
    for rows, method in ((~tied, "exact"), (tied, "asymptotic")):
        if rows.any():
            chance[rows] = mannwhitneyu(other[rows], one[rows], axis=1, method=method).pvalue
    chance = np.where(np.isnan(chance), 1.0, chance)  # all runs alike: nothing is declared
    return _said(np.median(other, axis=1) - np.median(one, axis=1), chance < _LEVEL, 20)


def phoronix(noise: Values, effect: float, _rng: np.random.Generator) -> Said:
    """Runs of one system until its deviation is below 3 %, at most 15, then of the other.

    A difference is read where the bars of one standard error do not overlap.
    """
    signs, trials = [], []
    for row in noise:
        first = _precise(np.exp(row[:_PHORONIX_MOST]))
        second = _precise(np.exp(row[len(first) : len(first) + _PHORONIX_MOST] + effect))
        gap = second.mean() - first.mean()
        bars = sum(arm.std(ddof=1) / np.sqrt(len(arm)) for arm in (first, second))
        signs.append(int(np.sign(gap)) if abs(gap) > bars else 0)
        trials.append(len(first) + len(second))
    return Said(np.array(signs), np.array(trials))


def _precise(runs: Values) -> Values:
    for count in range(_PHORONIX_RUNS, len(runs)):
        if runs[:count].std(ddof=1) < _PHORONIX_SD * runs[:count].mean():
            return runs[:count]
    return runs


def peeking(noise: Values, effect: float, rng: np.random.Generator) -> Said:
    """Pairs in random order, a t test at 5 % after each from the third to the thirtieth."""
    pairs = noise[:, : 2 * _PEEKED_PAIRS].reshape(len(noise), -1, 2)
    flips = np.where(rng.random(pairs.shape[:2]) < 0.5, 1.0, -1.0)
    gaps = flips * (pairs[:, :, 1] - pairs[:, :, 0]) + effect
    signs = np.zeros(len(noise), dtype=np.int64)
    trials = np.full(len(noise), 2 * _PEEKED_PAIRS)
    for count in range(_FIRST_PEEK, _PEEKED_PAIRS + 1):
        mean, sd = gaps[:, :count].mean(axis=1), gaps[:, :count].std(axis=1, ddof=1)
        limit = float(t.isf(_LEVEL / 2, count - 1)) * sd / np.sqrt(count)
        found = (signs == 0) & (np.abs(mean) > limit)
        signs[found] = np.sign(mean[found]).astype(np.int64)
        trials[found] = 2 * count
    return Said(signs, trials)


RIVALS: dict[str, Rule] = {
    "3 + 3, Welch": welch(3),
    "10 + 10, Welch (hyperfine's script)": welch(10),
    "10 + 10, ratio ± deviation (hyperfine)": hyperfine,
    "10 + 10, Mann-Whitney (benchstat)": benchstat,
    "30 + 30, Welch": welch(30),
    "until 3 % deviation, bars of one error (Phoronix)": phoronix,
    "pairs, t test after each (peeking)": peeking,
}
