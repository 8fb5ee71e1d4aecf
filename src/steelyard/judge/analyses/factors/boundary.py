"""How large the largest of many effects gets by chance, when one looks after every replicate.

The largest ``|t|`` over all questions is simulated on replicates in which nothing has an effect,
from the first look to the last. Statistics of strata with different degrees of freedom are brought
to one scale, that of the normal quantile with the same probability. A boundary then spends the
error rate over the looks: along the logarithm of the number of replicates, from half a replicate
before the first look. Paths that crossed have left, as in the main judge.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from steelyard.inference.noise.robust import Floats
from steelyard.inference.probability.distributions import normal_bound, t_above
from steelyard.judge.analyses.factors.design import Design
from steelyard.judge.analyses.factors.questions import questions
from steelyard.judge.analyses.factors.strata import variance_factors
from steelyard.plan.order import generator
from steelyard.study.screening import LEAST_DF

PATHS = 20_000
_EVERY_LOOK_UP_TO, _GROWTH = 24, 1.1
_BEFORE_FIRST = 0.55

Single = npt.NDArray[np.float32]


def looks(design: Design, replicates: int) -> tuple[int, ...]:
    """After how many replicates the judge looks: after each, and less often when there are many."""
    first = next((r for r in range(1, replicates + 1) if _ready(design, r)), replicates + 1)
    found, wanted = [], first
    while wanted <= replicates:
        found.append(wanted)
        wanted = (
            max(wanted + 1, int(wanted * _GROWTH)) if wanted >= _EVERY_LOOK_UP_TO else wanted + 1
        )
    return (*found, replicates) if found and found[-1] < replicates else tuple(found)


def _ready(design: Design, replicates: int) -> bool:
    """Whether any stratum has enough degrees of freedom to say something."""
    if not design.repeated(replicates):
        return False
    strata = {each.between for each in questions(design)}
    return any(design.error_df(replicates, between=each) >= LEAST_DF for each in strata)


def spent(look: int, first: int, last: int, alpha: float) -> float:
    """What may have been spent by a look, of a rate that is spent at the last one."""
    start = first - _BEFORE_FIRST
    return alpha * math.log(look / start) / math.log(last / start) if last > first else alpha


def quantiles(statistics: Floats, df: Floats | float) -> Floats:
    """Absolute t statistics as normal quantiles of the same tail."""
    return normal_bound(t_above(np.abs(statistics), df))


@lru_cache(maxsize=8)
def boundary(design: Design, replicates: int, alpha: float) -> tuple[float, ...]:
    """The critical normal quantile at each look, for either sign of any question.

    ``alpha`` is the probability that any question ever crosses when nothing has an effect.
    """
    when = looks(design, replicates)
    largest = _largest(design, when)
    alive = np.ones(len(largest), dtype=np.bool_)
    used, critical = 0, []
    for i, look in enumerate(when):
        may_leave = int(spent(look, when[0], when[-1], alpha) * len(largest) + 1e-9) - used
        ranked = np.sort(largest[alive, i])
        value = float(ranked[-may_leave - 1]) if may_leave > 0 else math.inf
        crossed = alive & (largest[:, i] > value)
        used += int(crossed.sum())
        alive &= ~crossed
        critical.append(value)
    return tuple(critical)


@lru_cache(maxsize=4)
def _largest(design: Design, when: Sequence[int]) -> Single:
    """The largest quantile of any question at each look, of ``PATHS`` null studies."""
    found = np.full((PATHS, len(when)), -np.inf, dtype=np.float32)
    for between in (False, True):
        if any(each.between == between for each in questions(design)):
            random = generator(0, f"screening boundary {between}")
            path = _NullPaths(design, random, between=between)
            for i, look in enumerate(when):
                largest = path.largest(look)
                df = design.error_df(look, between=between)
                if df >= LEAST_DF:
                    found[:, i] = np.maximum(found[:, i], quantiles(largest, df))
    return found


class _NullPaths:
    """Null studies of one stratum, replicate by replicate, in coordinates of its questions.

    What lies outside the questions enters the error only, as chi-squared variables.
    """

    def __init__(self, design: Design, random: np.random.Generator, *, between: bool) -> None:
        own = [each.between == between for each in questions(design)]
        self.own = np.asarray(own)
        asked = [each for each, mine in zip(questions(design), own, strict=True) if mine]
        self.design, self.random = design, random
        dimensions = design.contrasts(between=between)
        self.between = between
        self.maps, self.outside = [], []
        for i in range(len(design.layouts)):
            weights = np.asarray([each.weights[i] for each in asked])
            basis = _basis(weights)
            self.maps.append((weights @ basis.T / len(design.layouts)).astype(np.float32))
            self.outside.append(dimensions - len(basis))
        self.means = [np.zeros((PATHS, each.shape[1]), np.float32) for each in self.maps]
        self.squares = np.zeros(PATHS)
        self.counts = [0] * len(self.maps)

    def largest(self, look: int) -> Floats:
        """The largest absolute t statistic after so many replicates; they only grow."""
        for i, count in enumerate(self.design.of_layout(look)):
            if count > self.counts[i]:
                self._add(i, count - self.counts[i])
        df = self.design.error_df(look, between=self.between)
        if df < LEAST_DF:
            return np.zeros(PATHS)
        estimates = sum(m @ each.T for m, each in zip(self.means, self.maps, strict=True))
        factors = variance_factors(self.design, self.counts)[self.own]
        scaled = np.abs(estimates) / np.sqrt(factors).astype(np.float32)
        return np.asarray(scaled.max(axis=1) / np.sqrt(self.squares / df))

    def _add(self, i: int, more: int) -> None:
        """So many further replicates of one layout at once."""
        before, dimensions = self.counts[i], self.maps[i].shape[1]
        new = self.random.standard_normal((PATHS, dimensions), np.float32) / np.float32(
            math.sqrt(more)
        )
        apart = new - self.means[i]
        after = before + more
        if before:
            self.squares += np.square(apart).sum(axis=1) * (before * more / after)
        repeated = more if before else more - 1
        free = (more - 1) * dimensions + repeated * self.outside[i]
        if free:
            self.squares += self.random.chisquare(free, PATHS)
        self.means[i] += apart * np.float32(more / after)
        self.counts[i] = after


def _basis(weights: Floats) -> Floats:
    """Orthonormal rows that span the contrasts, by Gram and Schmidt in the order of the questions.

    Null studies are drawn in these coordinates. Singular vectors of equal singular values, which
    most designs have, are any rotation of each other: another one for each library of linear
    algebra, and so another boundary on another machine.
    """
    rows: list[Floats] = []
    least = 1e-9 * float(np.linalg.norm(weights, axis=1).max())
    for row in weights:
        left = row
        for known in rows * 2:  # twice: once leaves what rounding took
            left = left - np.sum(left * known) * known
        size = float(np.linalg.norm(left))
        if size > least:
            rows.append(left / size)
    return np.asarray(rows)


def forget() -> None:
    """Empties what is kept between calls, so that a bench times all of the work."""
    boundary.cache_clear()
    _largest.cache_clear()
