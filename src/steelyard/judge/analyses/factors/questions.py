"""The effects that a design can answer for, each a contrast of cells, and what it cannot part.

Two levels: every main effect and interaction that is estimable, of any order, as ``2 q``: mean of
the logarithms where the product of signs is high, less the mean where it is low. Several levels:
each level against the first, and for two factors half the difference of two such differences;
what three factors do together is allotted its share of the variation but asks no question.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from steelyard.inference.noise.robust import Floats
from steelyard.judge.analyses.factors.design import Design, Layout, Levels

Subset = tuple[int, ...]
PAIR = 2
_SAME = 1e-9


@dataclass(frozen=True)
class Question:
    """One effect. ``levels`` is the level of each of its factors, told against level 0.

    ``aliases`` are further sets of factors whose effects cannot be parted from it in this design.
    ``weights`` is the contrast over the cells of each layout; the estimate is the mean over
    layouts. ``between``: it is constant in every whole plot, so visits are its unit.
    """

    factors: Subset
    levels: Levels
    aliases: tuple[Subset, ...]
    between: bool
    weights: tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class Term:
    """What a set of factors does beyond its parts: a share of the variation.

    ``rows`` has, for each layout, orthogonal contrasts of mean square 1 / cells; the sum of their
    squared estimates is the variance between cells that the term makes. ``factors`` is empty for
    all terms of three factors and more together.
    """

    factors: Subset
    aliases: tuple[Subset, ...]
    between: bool
    rows: tuple[tuple[tuple[float, ...], ...], ...]

    @property
    def df(self) -> int:
        return len(self.rows[0])


@lru_cache(maxsize=16)
def questions(design: Design) -> tuple[Question, ...]:
    """Every question, main effects first."""
    if design.two_levels:
        return tuple(
            Question(
                factors=chain[0],
                levels=(1,) * len(chain[0]),
                aliases=tuple(chain[1:]),
                between=_between(design, columns),
                weights=tuple(tuple(2.0 * column / design.cells) for column in columns),
            )
            for chain, columns in _chains(design)
        )
    return tuple(_contrasts(design))


@lru_cache(maxsize=16)
def terms(design: Design) -> tuple[Term, ...]:
    """What the variation between cells consists of, main effects first."""
    if design.two_levels:
        return tuple(
            Term(
                factors=chain[0],
                aliases=tuple(chain[1:]),
                between=_between(design, columns),
                rows=tuple((tuple(column / design.cells),) for column in columns),
            )
            for chain, columns in _chains(design)
        )
    return tuple(_several_levels(design))


def _between(design: Design, columns: list[Floats]) -> bool:
    return design.whole_plots > 1 and all(
        _constant_within(layout, column)
        for layout, column in zip(design.layouts, columns, strict=True)
    )


def _constant_within(layout: Layout, column: Floats) -> bool:
    plots = np.asarray(layout.plots)
    return all(np.ptp(column[plots == plot]) < _SAME for plot in set(layout.plots))


def _chains(design: Design) -> Iterator[tuple[list[Subset], list[Floats]]]:
    """Sets of factors whose columns are equal in all layouts, simplest first, with the columns.

    A column that is constant within a layout is confounded with the block and cannot be estimated.
    Where simple effects share a column with intricate ones, the simple ones are named alone: up to
    pairs where there are any.
    """
    signs = [2.0 * np.asarray(layout.cells, dtype=float) - 1 for layout in design.layouts]
    chains: dict[bytes, tuple[list[Subset], list[Floats]]] = {}
    for order in range(1, len(design.levels) + 1):
        for subset in itertools.combinations(range(len(design.levels)), order):
            columns = [each[:, subset].prod(axis=1) for each in signs]
            if any(np.ptp(column) < _SAME for column in columns):
                continue
            joined = np.concatenate(columns)
            key = (joined * joined[0]).astype(np.int8).tobytes()
            chain, _ = chains.setdefault(key, ([], columns))
            if not chain or order <= max(PAIR, len(chain[0])):
                chain.append(subset)
    yield from chains.values()


def _contrasts(design: Design) -> Iterator[Question]:
    cells = np.asarray(design.layouts[0].cells)
    sides = {
        (factor, level): (cells[:, factor] == level).astype(float) - (cells[:, factor] == 0)
        for factor, count in enumerate(design.levels)
        for level in range(1, count)
    }
    for order in (1, PAIR):
        for chosen in itertools.combinations(sides, order):
            subset = tuple(factor for factor, _ in chosen)
            if len(set(subset)) < order:
                continue
            product = np.prod([sides[each] for each in chosen], axis=0)
            weights = product * 2 / np.abs(product).sum()
            yield Question(
                factors=subset,
                levels=tuple(level for _, level in chosen),
                aliases=(),
                between=_between(design, [weights]),
                weights=(tuple(weights),),
            )


def _several_levels(design: Design) -> Iterator[Term]:
    """Projections of a full factorial: Kronecker products of contrasts of each factor."""
    rest: list[Floats] = []
    for order in range(1, len(design.levels) + 1):
        for subset in itertools.combinations(range(len(design.levels)), order):
            rows = _kronecker(design, subset)
            if order > PAIR:
                rest += list(rows)
            else:
                yield _term(design, subset, rows)
    if rest:
        yield _term(design, (), np.asarray(rest))


def _term(design: Design, subset: Subset, rows: Floats) -> Term:
    between = all(_between(design, [row]) for row in rows)
    return Term(subset, (), between, (tuple(tuple(row) for row in rows),))


def _kronecker(design: Design, subset: Subset) -> Floats:
    """Orthogonal contrasts of mean square 1 / cells, a row each."""
    cells = np.asarray(design.layouts[0].cells)
    rows = np.ones((1, len(cells)))
    for factor in subset:
        levels = design.levels[factor]
        contrasts = _orthonormal(levels) * np.sqrt(levels)
        rows = np.concatenate([rows * contrast[cells[:, factor]] for contrast in contrasts])
    return rows / len(cells)


def _orthonormal(levels: int) -> Floats:
    """Helmert's contrasts: rows of length ``levels``, orthonormal, each summing to zero."""
    rows = np.zeros((levels - 1, levels))
    for i in range(1, levels):
        rows[i - 1, :i], rows[i - 1, i] = 1.0, -float(i)
        rows[i - 1] /= np.sqrt(i * (i + 1))
    return rows
