"""The exact sequential re-randomisation test: the observed order against those simulated.

If the other system's response is the baseline's times a constant ratio in every visit, the
residuals do not depend on the order of systems. The order that was drawn is then one of M + 1
exchangeable sequences, and it crosses the boundary by any look with at most the probability
spent so far, whatever the noise that affects both systems alike: drift, autocorrelation, modes or
stalls. See ``docs/methods/judge.md``.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from steelyard.inference.noise.robust import Floats
from steelyard.inference.randomisation import Signs
from steelyard.inference.spending import FIRST_LOOK, looks_until, spent
from steelyard.inference.weights import adjusted, weights, weights_by_machine

Sums = npt.NDArray[np.floating[Any]]

_TAIL_SHARE = 1.2
_PRODUCT_ROWS = 192
_MOST_LOOKS = 48
_FLOAT32_WHOLE = 2**24
_BLOCK_SIGNS = 2**18
_HALF = 2**8
_NO_PATHS = np.empty(0, dtype=np.bool_)


@dataclass(frozen=True)
class OneSided:
    """One one-sided sequential test on one row of residuals.

    ``side`` is +1 when large values of the other system speak against the tested ratio, -1 when
    small ones do. ``alpha`` is all that the test may spend.
    """

    row: int
    side: Literal[1, -1]
    alpha: float


class Height(NamedTuple):
    """The statistic of the observed order at one look, and what it did not exceed then.

    Both in standard deviations of the weights.
    """

    look: int
    reached: float
    asked: float


class Pool(NamedTuple):
    """The observed order, shape (visits,), and the simulated ones, shape (visits, paths - 1).

    The simulated ones are those that were drawn, not a copy: of a long plan they are large.
    """

    observed: Signs
    simulated: Signs

    @property
    def paths(self) -> int:
        return int(self.simulated.shape[1]) + 1

    def first(self, visits: int) -> Pool:
        """That of the first visits."""
        return Pool(self.observed[:visits], self.simulated[:visits])

    def side_by_side(self, paths: int) -> Signs:
        """The first of all sequences, shape (visits, paths); the observed one is the first."""
        return np.column_stack([self.observed, self.simulated[:, : paths - 1]])


def sums(weighed: Floats, pool: Pool) -> Sums:
    """The statistic of every path, shape (rows, paths), without any rounding.

    Single precision is exact while no sum of some of the weights can reach 2**24, as with 2,000
    visits of usual noise; otherwise the upper and the lower bits are summed apart.
    """
    if np.abs(weighed).sum(axis=1).max() <= _FLOAT32_WHOLE:
        return _product(weighed, pool)
    upper = np.floor(weighed / _HALF)
    halves = _product(np.concatenate([upper, weighed - _HALF * upper]), pool)
    return np.asarray(_HALF * halves[: len(weighed)].astype(np.float64) + halves[len(weighed) :])


def _product(whole: Floats, pool: Pool) -> Sums:
    """Whole numbers times signs, of a few paths after the other.

    So the pool needs a byte for a sign, and what of it is made single precision stays in a cache.
    """
    factors = whole.astype(np.float32)
    found = np.empty((len(whole), pool.paths), dtype=np.float32)
    found[:, 0] = factors @ pool.observed.astype(np.float32)
    several = max(1, _BLOCK_SIGNS // max(1, len(pool.observed)))
    for begin in range(0, pool.paths - 1, several):
        block = pool.simulated[:, begin : begin + several].astype(np.float32)
        np.matmul(factors, block, out=found[:, begin + 1 : begin + several + 1])
    return found


class SequentialTests:
    """Tests under way, look after look. Can be kept and advanced after the next visit.

    A longer series gives the same looks for the visits it shares. Tests that have crossed cost
    nothing at later looks. With ``measured`` it is kept how far each had come at each look.
    """

    def __init__(self, tests: Sequence[OneSided], paths: int, *, measured: bool = False) -> None:
        self.looked = FIRST_LOOK - 1
        self._tests = [_Test(test, paths, measured=measured) for test in tests]

    @property
    def crossed(self) -> list[int | None]:
        """For each test the look at which it crossed, ``None`` while it has not."""
        return [test.crossed_at for test in self._tests]

    def crossed_at(self, index: int) -> int | None:
        """That of one test."""
        return self._tests[index].crossed_at

    def height(self, index: int, visits: int) -> Height | None:
        """How far one test had come by its last look of so many visits; ``None`` before any."""
        known = [each for each in self._tests[index].heights if each.look <= visits]
        return known[-1] if known else None

    def advance(
        self,
        residuals: Floats,
        pool: Pool,
        horizon: int,
        *,
        once: bool = False,
        covariate: Floats | None = None,
        machines: int = 1,
    ) -> None:
        """Make all looks that the visits of ``residuals`` allow and that were not made yet.

        ``residuals`` has shape (rows, visits). With ``once`` there is one look, after the last
        visit, and it may spend everything. What follows the ``covariate`` of each visit is taken
        out before weighing. Of several ``machines`` a look is after one more visit on each.

        Several looks are one product: what costs most of it is to read the pool.
        """
        visits = residuals.shape[1] // machines
        due = (visits,) if once else looks_until(visits, horizon)
        due = due[bisect_right(due, self.looked) :]
        while due:
            rows = sorted({test.asked.row for test in self._tests if test.crossed_at is None})
            if not rows:
                break
            several = max(1, min(_PRODUCT_ROWS // len(rows), _MOST_LOOKS))
            looks, due = due[:several], due[several:]
            weighed = _weighed(residuals[rows], looks, covariate, machines, whiten=not once)
            known = looks[-1] * machines
            statistics = sums(weighed.reshape(-1, known), pool.first(known))
            by_look = statistics.reshape(len(looks), len(rows), -1)
            sizes = np.sqrt(np.sum(weighed**2, axis=2)).tolist()
            place = {row: index for index, row in enumerate(rows)}
            for look, of_rows, sizes_of_rows in zip(looks, by_look, sizes, strict=True):
                for test, share in self._running(look, horizon, once=once):
                    index = place[test.asked.row]
                    test.look(look, of_rows[index], sizes_of_rows[index], share)
        self.looked = max(self.looked, visits)

    def _running(self, look: int, horizon: int, *, once: bool) -> list[tuple[_Test, float]]:
        """The tests that may reject at this look, and what they may have spent by it."""
        open_ones = [test for test in self._tests if test.crossed_at is None]
        shares = {
            alpha: alpha if once else spent(look, horizon, alpha)
            for alpha in {test.asked.alpha for test in open_ones}
        }
        asked = [(test, shares[test.asked.alpha]) for test in open_ones]
        return [(test, share) for test, share in asked if test.may_cross(share)]


def _weighed(
    residuals: Floats,
    looks: Sequence[int],
    covariate: Floats | None,
    machines: int,
    *,
    whiten: bool,
) -> Floats:
    """The weights at each look, shape (looks, rows, visits), 0 for visits after it."""
    found = np.zeros((len(looks), len(residuals), looks[-1] * machines))
    for index, look in enumerate(looks):
        count = look * machines
        known, beside = residuals[:, :count], None if covariate is None else covariate[:count]
        if machines > 1:
            found[index, :, :count] = weights_by_machine(known, machines, beside, whiten=whiten)
            continue
        if beside is not None:
            known = adjusted(known, beside)
        found[index, :, :count] = weights(known, whiten=whiten)
    return found


class _Test:
    """All paths of one test under way: which are still below the boundary."""

    def __init__(self, asked: OneSided, paths: int, *, measured: bool = False) -> None:
        self.asked = asked
        self.crossed_at: int | None = None
        self.heights: list[Height] = []
        self._measured = measured
        self._paths = paths
        self._alive = np.ones(paths, dtype=np.bool_)
        self._used = 0
        self._tail_sds = _tail_sds(asked.alpha)

    def may_cross(self, share: float) -> bool:
        """Whether it has not crossed and has something left of ``share``."""
        return self.crossed_at is None and self._allowed(share) > 0

    def _allowed(self, share: float) -> int:
        return int(share * self._paths + 1e-9) - self._used

    def look(self, look: int, statistics: Sums, size: float, share: float) -> None:
        """Let every path cross that lies above the boundary of this look.

        ``share`` of all paths may have crossed by now. The boundary is the (k+1)-th largest of
        the paths still below it, k those that may cross. Strictly above, for the observed path
        as for the others: ties never cross. ``size`` is about one standard deviation.
        """
        allowed = self._allowed(share)
        if allowed <= 0:
            return
        signed = statistics if self.asked.side > 0 else -statistics
        crossing, boundary = self._above_boundary(signed, allowed, self._tail_sds * size)
        if self._measured and size > 0:
            self.heights.append(Height(look, float(signed[0]) / size, boundary / size))
        self._used += len(crossing)
        self._alive[crossing] = False
        if not self._alive[0]:
            self.crossed_at = look
            self._alive = _NO_PATHS

    def _above_boundary(
        self, signed: Sums, allowed: int, tail: float
    ) -> tuple[npt.NDArray[np.intp], float]:
        candidates = (signed > tail).nonzero()[0]
        candidates = candidates[self._alive[candidates]]
        if len(candidates) <= allowed:  # the tail was cut too far out: take all
            candidates = np.flatnonzero(self._alive)
        heights = signed[candidates]
        ranked = heights.copy()
        ranked.partition(-allowed - 1)
        boundary = ranked[-allowed - 1]
        crossing: npt.NDArray[np.intp] = candidates[heights > boundary]
        return crossing, float(boundary)


@lru_cache(maxsize=64)
def _tail_sds(alpha: float) -> float:
    """Beyond it lie somewhat more paths than may cross; where that is wrong, all are taken."""
    return NormalDist().inv_cdf(1 - min(_TAIL_SHARE * alpha, 0.5))
