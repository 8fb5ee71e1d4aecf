"""Estimates and their errors: blocks removed, visits and trials each with an error of its own.

For balanced designs the mean squares are exact: what is changed between visits is judged by how
visits of equal levels differ from block to block, what is changed within them by how trials do.
Where the places of trials in time are known, a steady drift over the whole study is taken out of
both, for one degree of freedom of trials: trials of one visit tell how fast the machine moves.
Source: Montgomery, "Design and Analysis of Experiments" (8th ed. 2013), chapters 5, 6, 14 and 15
(analysis of covariance).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from steelyard.inference.noise.robust import Floats
from steelyard.judge.analyses.factors.design import Design, Layout
from steelyard.judge.analyses.factors.questions import questions


@dataclass(frozen=True)
class Stratum:
    """The error of one stratum; ``mean_square`` is ``None`` without a degree of freedom."""

    sum_of_squares: float
    df: int

    @property
    def mean_square(self) -> float | None:
        return self.sum_of_squares / self.df if self.df else None


@dataclass(frozen=True)
class Drift:
    """What was taken out: so much per place. ``spread`` is the sum of squares of the places that
    tells it, ``means`` those of the cells by layout: what is left of it in an estimate.
    """

    slope: float
    spread: float
    means: tuple[Floats, ...]


@dataclass(frozen=True)
class Fit:
    """A design with its data: means of the cells by layout, and the error within and between.

    ``counts`` is the number of replicates of each layout.
    """

    design: Design
    means: tuple[Floats, ...]
    counts: tuple[int, ...]
    within: Stratum
    between: Stratum
    drift: Drift | None = None

    def stratum(self, *, between: bool) -> Stratum:
        return self.between if between else self.within

    def project(self, rows: Sequence[Sequence[Sequence[float]]]) -> Floats:
        """Estimates of contrasts: ``rows`` is layouts × contrasts × cells."""
        return _projected(rows, self.means)

    def estimates(self) -> Floats:
        """One for each question, as a natural logarithm of a ratio."""
        return self.project(self._rows())

    def _rows(self) -> list[list[tuple[float, ...]]]:
        asked = questions(self.design)
        return [[each.weights[i] for each in asked] for i in range(len(self.means))]

    def variance_factors(self) -> Floats:
        """What the mean square is multiplied by for the variance of each estimate."""
        known = variance_factors(self.design, self.counts)
        if self.drift is None:
            return known
        left = _projected(self._rows(), self.drift.means)
        return np.asarray(known + np.square(left) / self.drift.spread)

    def unit_variance(self) -> float:
        """The same of a contrast of mean square 1 / cells, as those of terms.

        With a drift that of one such contrast on the average.
        """
        layouts, cells = len(self.counts), self.design.cells
        known = sum(1 / n for n in self.counts) / (layouts**2 * cells)
        if self.drift is None:
            return known
        left = sum(float(np.square(each).sum()) for each in self.drift.means)
        return known + left / (layouts**2 * cells * (cells - 1) * self.drift.spread)


def _projected(rows: Sequence[Sequence[Sequence[float]]], means: Sequence[Floats]) -> Floats:
    each = [np.asarray(row) @ mean for row, mean in zip(rows, means, strict=True)]
    return np.asarray(sum(each) / len(each), dtype=np.float64)


def variance_factors(design: Design, counts: Sequence[int]) -> Floats:
    """Variance of each question's estimate over the mean square, at so many replicates."""
    squares = np.array([[np.square(w).sum() for w in q.weights] for q in questions(design)])
    return np.asarray((squares / np.asarray(counts)).sum(axis=1) / len(counts) ** 2)


def fit(design: Design, replicates: Sequence[Floats], places: Sequence[Floats] = ()) -> Fit:
    """Estimates after these replicates, in order; every layout must have come up.

    ``places`` are those of the cells in the order of trials, replicate by replicate: a steady drift
    along them is taken out. Without them none is.

    Raises:
        ValueError: a replicate does not have a number for each cell, or a layout is missing.
    """
    turns = len(design.layouts)
    if len(replicates) < turns or any(len(each) != design.cells for each in replicates):
        raise ValueError("a replicate holds every cell of its layout, and every layout comes up")
    parts = [np.asarray(replicates[i::turns], dtype=np.float64) for i in range(turns)]
    drift = None
    if len(places):
        along = [_centred(np.asarray(places[i::turns], dtype=np.float64)) for i in range(turns)]
        drift = _drift(design, parts, along)
        if drift is not None:
            parts = [p - drift.slope * a for p, a in zip(parts, along, strict=True)]
    errors = [_errors(*each) for each in zip(design.layouts, parts, strict=True)]
    df = design.error_df(len(replicates), between=False) - (drift is not None)
    return Fit(
        design=design,
        means=tuple(_centred(part).mean(axis=0) for part in parts),
        counts=tuple(len(part) for part in parts),
        within=Stratum(sum(each[0] for each in errors), df),
        between=Stratum(
            sum(each[1] for each in errors), design.error_df(len(replicates), between=True)
        ),
        drift=drift,
    )


def _drift(design: Design, parts: Sequence[Floats], along: Sequence[Floats]) -> Drift | None:
    """By least squares from what differs between replicates of a cell, within visits.

    ``None`` when its places do not, as after one replicate.
    """
    inside = [_within(*each) for each in zip(design.layouts, along, strict=True)]
    repeated = [each - each.mean(axis=0) for each in inside]
    spread = sum(float(np.square(each).sum()) for each in repeated)
    if spread <= 0:
        return None
    shared = sum(float((r * p).sum()) for r, p in zip(repeated, parts, strict=True))
    return Drift(shared / spread, spread, tuple(each.mean(axis=0) for each in along))


def _within(layout: Layout, part: Floats) -> Floats:
    """The means of whole plots removed."""
    return np.asarray(part - _plot_means(layout, part)[:, np.asarray(layout.plots)])


def _plot_means(layout: Layout, part: Floats) -> Floats:
    """Replicates × whole plots."""
    plots = np.asarray(layout.plots)
    means = [part[:, plots == plot].mean(axis=1) for plot in range(layout.whole_plots)]
    return np.stack(means, axis=1)


def _centred(part: Floats) -> Floats:
    """The blocks removed."""
    return np.asarray(part - part.mean(axis=1, keepdims=True))


def _errors(layout: Layout, part: Floats) -> tuple[float, float]:
    """Sums of squares within and between whole plots."""
    left = _centred(part)
    left = left - left.mean(axis=0)
    size = len(layout.plots) // layout.whole_plots
    between = float(size * np.square(_plot_means(layout, left)).sum())
    return max(0.0, float(np.square(left).sum()) - between), between
