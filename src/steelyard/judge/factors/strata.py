"""Estimates and their errors: blocks removed, visits and trials each with an error of its own.

For balanced designs the mean squares are exact: what is changed between visits is judged by how
visits of equal levels differ from block to block, what is changed within them by how trials do.
Source: Montgomery, "Design and Analysis of Experiments" (8th ed. 2013), chapters 5, 6 and 14.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from steelyard.judge.factors.design import Design, Floats, Layout
from steelyard.judge.factors.questions import questions


@dataclass(frozen=True)
class Stratum:
    """The error of one stratum; ``mean_square`` is ``None`` without a degree of freedom."""

    sum_of_squares: float
    df: int

    @property
    def mean_square(self) -> float | None:
        return self.sum_of_squares / self.df if self.df else None


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

    def stratum(self, *, between: bool) -> Stratum:
        return self.between if between else self.within

    def project(self, rows: Sequence[Sequence[Sequence[float]]]) -> Floats:
        """Estimates of contrasts: ``rows`` is layouts × contrasts × cells."""
        each = [np.asarray(row) @ mean for row, mean in zip(rows, self.means, strict=True)]
        return np.asarray(sum(each) / len(each), dtype=np.float64)

    def estimates(self) -> Floats:
        """One for each question, as a natural logarithm of a ratio."""
        asked = questions(self.design)
        rows = [[each.weights[i] for each in asked] for i in range(len(self.means))]
        return self.project(rows)

    def variance_factors(self) -> Floats:
        """What the mean square is multiplied by for the variance of each estimate."""
        return variance_factors(self.design, self.counts)

    def unit_variance(self) -> float:
        """The same of a contrast of mean square 1 / cells, as those of terms."""
        layouts = len(self.counts)
        return sum(1 / n for n in self.counts) / (layouts**2 * self.design.cells)


def variance_factors(design: Design, counts: Sequence[int]) -> Floats:
    """Variance of each question's estimate over the mean square, at so many replicates."""
    squares = np.array([[np.square(w).sum() for w in q.weights] for q in questions(design)])
    return np.asarray((squares / np.asarray(counts)).sum(axis=1) / len(counts) ** 2)


def fit(design: Design, replicates: Sequence[Floats]) -> Fit:
    """Estimates after these replicates, in order; every layout must have come up.

    Raises:
        ValueError: a replicate does not have a number for each cell, or a layout is missing.
    """
    turns = len(design.layouts)
    if len(replicates) < turns or any(len(each) != design.cells for each in replicates):
        raise ValueError("a replicate holds every cell of its layout, and every layout comes up")
    parts = [np.asarray(replicates[i::turns], dtype=np.float64) for i in range(turns)]
    errors = [_errors(*each) for each in zip(design.layouts, parts, strict=True)]
    return Fit(
        design=design,
        means=tuple(_centred(part).mean(axis=0) for part in parts),
        counts=tuple(len(part) for part in parts),
        within=Stratum(
            sum(each[0] for each in errors), design.error_df(len(replicates), between=False)
        ),
        between=Stratum(
            sum(each[1] for each in errors), design.error_df(len(replicates), between=True)
        ),
    )


def _centred(part: Floats) -> Floats:
    """The blocks removed."""
    return np.asarray(part - part.mean(axis=1, keepdims=True))


def _errors(layout: Layout, part: Floats) -> tuple[float, float]:
    """Sums of squares within and between whole plots."""
    left = _centred(part)
    left = left - left.mean(axis=0)
    plots = np.asarray(layout.plots)
    size = len(plots) // layout.whole_plots
    means = np.stack([left[:, plots == plot].mean(axis=1) for plot in range(layout.whole_plots)])
    between = float(size * np.square(means).sum())
    return max(0.0, float(np.square(left).sum()) - between), between
