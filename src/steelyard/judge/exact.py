"""The exact sequential re-randomisation test: what came out against what the coin could have done.

If the other system's response is the baseline's times a constant ratio in every visit, the
residuals do not depend on the order of systems. The order that was drawn is then one of M + 1
exchangeable sequences, and it crosses the boundary by any look with at most the probability
spent so far, whatever the noise: drift, autocorrelation, modes or stalls. Looks are made after
every visit from the eighth. See ``docs/methods/judge.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from steelyard.judge.paths import Signs
from steelyard.judge.scores import SCALE, Floats, weights
from steelyard.judge.spending import FIRST_LOOK, spent

Pool = npt.NDArray[np.floating[Any]]

_TAIL_SDS = 1.3
_ROWS_AT_ONCE = 128
_FLOAT32_WHOLE = 2**24


@dataclass(frozen=True)
class OneSided:
    """One one-sided sequential test on one row of residuals.

    ``side`` is +1 when large values of the other system speak against the tested ratio, -1 when
    small ones do. ``alpha`` is all that the test may spend.
    """

    row: int
    side: Literal[1, -1]
    alpha: float


def pool_of(signs: Signs, simulated: Signs) -> Pool:
    """Observed and simulated sequences side by side, shape (visits, paths + 1).

    Column 0 is the observed one. Sums of integer weights stay below 2**24 up to 256 visits,
    where single precision is still exact; beyond that the pool is in double precision.
    """
    exact_in_single = 4 * SCALE * len(signs) <= _FLOAT32_WHOLE
    pool = np.empty(
        (len(signs), simulated.shape[1] + 1), dtype=np.float32 if exact_in_single else np.float64
    )
    pool[:, 0] = signs
    pool[:, 1:] = simulated
    return pool


def first_crossings(
    residuals: Floats, pool: Pool, tests: Sequence[OneSided], horizon: int
) -> list[int | None]:
    """The look (in visits) at which each test first rejects; ``None`` while it has not.

    ``residuals`` has shape (rows, visits). A pure function: a longer series gives the same looks
    for the visits it shares. Tests that have crossed cost nothing at later looks.
    """
    crossed: list[int | None] = [None] * len(tests)
    for start in range(0, len(residuals), _ROWS_AT_ONCE):
        rows = range(start, min(start + _ROWS_AT_ONCE, len(residuals)))
        races = [_Race(index, test, pool) for index, test in enumerate(tests) if test.row in rows]
        _run(residuals, pool, races, horizon)
        for race in races:
            crossed[race.index] = race.crossed_at
    return crossed


def _run(residuals: Floats, pool: Pool, races: list[_Race], horizon: int) -> None:
    for look in range(FIRST_LOOK, residuals.shape[1] + 1):
        races = [race for race in races if race.crossed_at is None]
        if not races:
            return
        rows = sorted({race.test.row for race in races})
        weighed = weights(residuals[rows, :look])
        statistics: Pool = np.matmul(weighed.astype(pool.dtype), pool[:look])
        tails = _TAIL_SDS * np.sqrt(np.sum(weighed**2, axis=1))
        for position, row in enumerate(rows):
            for race in races:
                if race.test.row == row:
                    race.look(look, statistics[position], tails[position], horizon)


class _Race:
    """All paths of one test on their way: which are still below the boundary."""

    def __init__(self, index: int, test: OneSided, pool: Pool) -> None:
        self.index = index
        self.test = test
        self.crossed_at: int | None = None
        self._paths = pool.shape[1]
        self._alive = np.ones(self._paths, dtype=np.bool_)
        self._used = 0

    def look(self, look: int, statistics: Pool, tail: float, horizon: int) -> None:
        """Let every path cross that lies above the boundary of this look.

        The boundary is the (k+1)-th largest of the paths still below it, k those that may cross.
        Strictly above, for the observed path as for the others: ties never cross.
        """
        allowed = int(spent(look, horizon, self.test.alpha) * self._paths + 1e-9) - self._used
        if allowed <= 0:
            return
        signed = statistics if self.test.side > 0 else -statistics
        crossing = self._above_boundary(signed, allowed, tail)
        self._used += len(crossing)
        self._alive[crossing] = False
        if not self._alive[0]:
            self.crossed_at = look

    def _above_boundary(self, signed: Pool, allowed: int, tail: float) -> npt.NDArray[np.intp]:
        candidates = np.flatnonzero((signed > tail) & self._alive)
        if len(candidates) <= allowed:  # the tail was cut too far out: take all
            candidates = np.flatnonzero(self._alive)
        heights = signed[candidates]
        boundary = np.partition(heights, -allowed - 1)[-allowed - 1]
        crossing: npt.NDArray[np.intp] = candidates[heights > boundary]
        return crossing
