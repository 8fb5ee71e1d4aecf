"""The second test: Welch's, on the same visits, for arms of unequal spread.

The exact test takes arms that differ by a ratio only; with spreads of 4 to 1 it errs in a tenth
of the studies. This one estimates the spread of each arm by itself. A ratio is out only when
both have put it out, so that neither the noise nor the spreads can break the error rate
(``docs/decisions/``). It has its own boundary and depends on a ratio by a shift alone.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.stats import t

from steelyard.judge.boundary import levels
from steelyard.judge.scores import last_in_rank
from steelyard.judge.slow import basis, movements, slow_part
from steelyard.judge.spending import FIRST_LOOK

Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

_MAD_TO_SD = 1.4826
_CLIP_FROM = 12
_CLIP_SDS = 2.5
_FITS = 5


class Contrast(NamedTuple):
    """Difference of the arms, its standard error, and the degrees of freedom of that."""

    difference_log: float
    standard_error_log: float
    freedom: float


def lows(values: Floats, other: Mask, horizon: int, alpha: float, *, once: bool = False) -> Floats:
    """The ratio below which all are out, after each look from the 8th visit; -inf without any.

    Shape (looks,), never falling. ``once``: one look, after the last visit, may spend all.
    """
    last = len(values)
    if once:
        return np.array([_low(contrast(values, other, slow=False), alpha)])
    asked = levels(horizon, alpha)
    found = np.full(last + 1 - FIRST_LOOK, -math.inf)
    for index, level in enumerate(asked[: len(found)]):
        look = FIRST_LOOK + index
        found[index] = _low(contrast(values[:look], other[:look]), float(level))
    return np.asarray(np.maximum.accumulate(found))


def _low(found: Contrast | None, level: float) -> float:
    if found is None or level <= 0:
        return -math.inf
    return found.difference_log - float(t.isf(level, found.freedom)) * found.standard_error_log


def contrast(values: Floats, other: Mask, *, slow: bool = True) -> Contrast | None:
    """The difference of the arms besides slow movements; ``None`` with an arm of one visit."""
    return _contrast(values.tobytes(), other.tobytes(), slow)


@lru_cache(maxsize=4096)
def _contrast(values_bytes: bytes, other_bytes: bytes, slow: bool) -> Contrast | None:
    values = last_in_rank(np.frombuffer(values_bytes)[None, :])[0]
    other = np.frombuffer(other_bytes, dtype=np.bool_)
    if min(other.sum(), (~other).sum()) < 2:
        return None
    fit = _Fit(other, slow=slow)
    if len(values) < _CLIP_FROM:
        return fit.contrast(values, np.zeros_like(other))
    kept, clipped = _without_stalls(values, fit)
    return fit.contrast(kept, clipped)


class _Fit:
    """Least squares of visits on slow movements and the label of the other system."""

    def __init__(self, other: Mask, *, slow: bool) -> None:
        self.other = other
        self.slow = slow
        label = np.where(other, 0.5, -0.5)
        self.label = label - self._common(label)
        self.size = float(self.label @ self.label)
        columns = basis(len(other)) if slow else np.full((len(other), 1), len(other) ** -0.5)
        self.leverage = np.sum(columns**2, axis=1) + self.label**2 / self.size

    def _common(self, rows: Floats) -> Floats:
        return np.asarray(slow_part(rows)) if self.slow else np.full_like(rows, rows.mean())

    def difference(self, values: Floats) -> float:
        return float(self.label @ values) / self.size

    def residuals(self, values: Floats) -> Floats:
        rest = values - self._common(values)
        return np.asarray(rest - self.difference(values) * self.label)

    def contrast(self, values: Floats, clipped: Mask) -> Contrast:
        """With the variance of each arm by itself, and Satterthwaite's degrees of freedom.

        Residuals are enlarged by their leverage (HC2; without movements this is Welch's test),
        and for the clipped visits of an arm, which tell of its spread no more.
        """
        shares = self.residuals(values) ** 2 / np.maximum(1 - self.leverage, 1e-9)
        shares *= (self.label / self.size) ** 2
        taken = movements(len(values)) / len(values) if self.slow else 0.0
        variances, freedoms = [], []
        for arm in (self.other, ~self.other):
            count = int(arm.sum())
            free = max(int((arm & ~clipped).sum()), 1)
            variances.append(float(shares[arm].sum()) * (count / free) ** 2)
            freedoms.append(max(free - 1 - taken * count, 1.0))
        variance = sum(variances)
        spread = sum(v**2 / f for v, f in zip(variances, freedoms, strict=True))
        freedom = variance**2 / spread if spread > 0 else min(freedoms)
        return Contrast(self.difference(values), math.sqrt(variance), freedom)


def _without_stalls(values: Floats, fit: _Fit) -> tuple[Floats, Mask]:
    """Values with residuals clipped at 2.5 robust standard deviations of their arm; and which."""
    centre = np.empty_like(values)
    for arm in (fit.other, ~fit.other):
        centre[arm] = np.median(values[arm])
    reach = _reach(values - centre, fit.other)
    kept = centre + np.clip(values - centre, -reach, reach)
    fitted = kept - fit.residuals(kept)
    reach = _reach(values - fitted, fit.other)
    for _ in range(_FITS):
        kept = fitted + np.clip(values - fitted, -reach, reach)
        fitted = kept - fit.residuals(kept)
    rest = values - fitted
    return fitted + np.clip(rest, -reach, reach), np.abs(rest) >= reach


def _reach(rest: Floats, other: Mask) -> Floats:
    """How far a visit may lie from the fit: by the spread of its arm; no limit without any."""
    reach = np.empty_like(rest)
    for arm in (other, ~other):
        spread = _CLIP_SDS * _MAD_TO_SD * float(np.median(np.abs(rest[arm])))
        reach[arm] = spread if spread > 0 else np.inf
    return reach
