"""What was varied, as numbers: cells as indices of levels, in one layout or in several by turns.

Pure data, hashable, so that everything that follows from a design alone is computed once.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

Levels = tuple[int, ...]

TWO = 2


@dataclass(frozen=True)
class Layout:
    """The cells of one replicate, each a level of every factor; ``plots`` names its whole plot.

    Cells of one whole plot share the levels of the factors that are changed between visits.
    Without such factors there is one whole plot.
    """

    cells: tuple[Levels, ...]
    plots: tuple[int, ...]

    @property
    def whole_plots(self) -> int:
        return len(set(self.plots))


@dataclass(frozen=True)
class Design:
    """Factors with so many levels each; level 0 is the one that the others are compared with.

    Replicate i (from 0) has the layout ``i`` modulo their number. All layouts have equally many
    cells and whole plots. A block is a replicate: its mean is removed from everything.
    """

    levels: tuple[int, ...]
    layouts: tuple[Layout, ...]

    @property
    def cells(self) -> int:
        """Trials of one replicate."""
        return len(self.layouts[0].cells)

    @property
    def whole_plots(self) -> int:
        return self.layouts[0].whole_plots

    @property
    def two_levels(self) -> bool:
        return all(count == TWO for count in self.levels)

    def of_layout(self, replicates: int) -> tuple[int, ...]:
        """How many of the first replicates have each layout."""
        turns = len(self.layouts)
        return tuple((replicates + turns - 1 - i) // turns for i in range(turns))

    def repeated(self, replicates: int) -> bool:
        """Whether every layout has come up twice.

        A layout that came up once weighs on the estimates and not on the error: a stall in it
        would pass for an effect.
        """
        return min(self.of_layout(replicates)) > 1

    def error_df(self, replicates: int, *, between: bool) -> int:
        """Degrees of freedom of the error after so many replicates, in one stratum."""
        repeated = sum(max(0, count - 1) for count in self.of_layout(replicates))
        return repeated * self.contrasts(between=between)

    def contrasts(self, *, between: bool) -> int:
        """Dimensions of a stratum within one replicate."""
        return self.whole_plots - 1 if between else self.cells - self.whole_plots


def full_factorial(levels: tuple[int, ...], hard: int = 0) -> Design:
    """Every combination of levels; the first ``hard`` factors are changed between visits only."""
    grid = np.indices(levels).reshape(len(levels), math.prod(levels)).T
    cells = tuple(tuple(int(i) for i in cell) for cell in grid)
    plots = plots_of(cells, tuple(range(hard)))
    return Design(levels, (Layout(cells, plots),))


def plots_of(cells: tuple[Levels, ...], hard: tuple[int, ...]) -> tuple[int, ...]:
    """The whole plot of each cell: one for each combination of levels of the hard factors."""
    known: dict[Levels, int] = {}
    return tuple(known.setdefault(tuple(cell[i] for i in hard), len(known)) for cell in cells)
