"""Logarithms of throughput by visit and level, and what is common to them: least squares.

Every model here has one free offset for each visit, so that what differs between visits (a boot, a
placement) never counts as noise of the curve. For a curve that depends on the level alone the
sum of squares is a quadratic form in its values at the levels, computed once.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from steelyard.inference.noise.robust import Floats, Mask

Integers = npt.NDArray[np.integer[Any]]

_NOTHING = 1e-10
"""Share of the largest singular value that is rounding: a constant, which no contrast sees."""


@dataclass(frozen=True)
class Table:
    """``logs`` has a row for each visit and a column for each level; NaN where nothing counts.

    Every row and every column holds a number. ``levels`` rise.
    """

    levels: Floats
    logs: Floats

    @property
    def visits(self) -> int:
        return len(self.logs)

    @cached_property
    def known(self) -> Mask:
        return np.isfinite(self.logs)

    @cached_property
    def form(self) -> Form:
        return _form(self)


@dataclass(frozen=True)
class Form:
    """Sum of squares of ``logs - curve - offset of the visit``: ``total - 2 c'f + f'M f``.

    ``means`` are the levels' values in a typical visit, ``covariance`` theirs for noise of
    variance 1 (up to a constant, which no contrast sees), ``residual`` the sum of squares of noise
    after levels and visits, on ``df`` degrees of freedom.
    """

    matrix: Floats
    vector: Floats
    total: float
    means: Floats
    covariance: Floats
    offset_variance: float
    residual: float
    df: int
    count: int

    @property
    def noise_log(self) -> float | None:
        """Spread of a trial within its visit; ``None`` where it cannot be estimated."""
        return float(np.sqrt(self.residual / self.df)) if self.df > 0 else None

    def squares(self, curves: Floats) -> Floats:
        """The sum of squares of each curve; its values at the levels stand on the last axis."""
        linear = curves @ self.vector
        quadratic = ((curves @ self.matrix) * curves).sum(axis=-1)
        return np.asarray(np.maximum(self.total - 2 * linear + quadratic, 0.0))


def _form(table: Table) -> Form:
    visit, level = np.nonzero(table.known)
    values = table.logs[visit, level]
    known = table.known.astype(np.float64)
    centred_levels = (np.eye(len(table.levels)) - (known / known.sum(axis=1)[:, None])[:, None])[
        table.known
    ]
    centred = values - _means(visit, values)[visit]
    matrix, vector = centred_levels.T @ centred_levels, centred_levels.T @ centred
    inverse = np.linalg.pinv(matrix, rcond=_NOTHING)
    effects = inverse @ vector
    left = centred - centred_levels @ effects
    offsets = _means(visit, values - effects[level])
    rank = int(np.linalg.matrix_rank(matrix, rtol=_NOTHING))
    return Form(
        matrix=matrix,
        vector=vector,
        total=float(centred @ centred),
        means=effects + offsets.mean(),
        covariance=np.asarray(inverse, dtype=np.float64),
        offset_variance=float(offsets.var(ddof=1)) / len(offsets) if len(offsets) > 1 else np.inf,
        residual=float(left @ left),
        df=len(values) - table.visits - rank,
        count=len(values),
    )


def _means(visit: Integers, values: Floats) -> Floats:
    """The mean of each visit."""
    return np.asarray(np.bincount(visit, values) / np.bincount(visit))
