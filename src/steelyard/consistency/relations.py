"""Which quantities of a table are sums, differences or percentages of which others.

No name is needed: a relation is what holds in most of the groups of a table, with more digits than
chance gives. Names alone make one where they say it: a total and the parts that share its name.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from steelyard.consistency.cells import Cell, Levels, Table
from steelyard.consistency.printed import MODES, Interval, rounded, total

_FEWEST = 4
"""Groups, before a relation may be read off them alone."""
_MOST = 0.75
_DIGITS = 8.0
"""So many decimal digits, over all groups, that a relation met by chance must have met."""
_NAMES = 60
"""Quantities of one unit that are tried against each other."""
_WHOLES = {"total", "sum", "all", "overall"}
Group = Mapping[Levels, Cell]


@dataclass(frozen=True)
class Relation:
    """``whole`` is the sum of ``parts``."""

    whole: Levels
    parts: tuple[Levels, ...]

    def cells(self, group: Group) -> tuple[Cell, list[Cell]] | None:
        if not all(name in group for name in (self.whole, *self.parts)):
            return None
        return group[self.whole], [group[part] for part in self.parts]


def sums_of(table: Table) -> list[Relation]:
    """Sums that hold in most groups, or that names say and at least one group confirms."""
    found: dict[frozenset[Levels], Relation] = {}
    for names in _alike(table.groups).values():
        for relation in [*_named(names, table.groups), *_observed(names, table.groups)]:
            found.setdefault(frozenset([relation.whole, *relation.parts]), relation)
    return list(found.values())


def holds(relation: Relation, group: Group) -> bool | None:
    """Whether the sum holds in the group; ``None`` where a part is missing."""
    cells = relation.cells(group)
    return None if cells is None else _adds_up(*cells)


def _adds_up(whole: Cell, parts: Sequence[Cell]) -> bool:
    return whole.base.meets(total(part.base for part in parts))


def _alike(groups: Sequence[Group]) -> Mapping[tuple[object, ...], list[Levels]]:
    """Quantities of one dimension whose values can be added: no quantile, no deviation."""
    found: dict[tuple[object, ...], dict[Levels, None]] = defaultdict(dict)
    for group in groups:
        for name, cell in group.items():
            unit = cell.parsed_unit
            kind = cell.unit if unit is None else unit.dimension
            if cell.statistic in (None, "mean") and cell.unit != "percent":
                found[kind, cell.statistic][name] = None
    return {kind: list(names) for kind, names in found.items() if 2 < len(names) <= _NAMES}


def _named(names: Sequence[Levels], groups: Sequence[Group]) -> Iterator[Relation]:
    """A total and all others that share its name but for that word."""
    for whole in names:
        stem = _stem(whole)
        if stem is None:
            continue
        parts = tuple(n for n in names if n != whole and _stem(n) is None and _begins(n, stem))
        relation = Relation(whole, parts)
        seen = [held for group in groups if (held := holds(relation, group)) is not None]
        if len(parts) > 1 and seen and 2 * sum(seen) >= len(seen) and any(seen):
            yield relation


def _stem(name: Levels) -> str | None:
    """``operations`` of ``operations_total``."""
    parts = name[0][1].lower().split("_")
    rest = [part for part in parts if part not in _WHOLES]
    return "_".join(rest) if len(rest) < len(parts) and rest else None


def _begins(name: Levels, stem: str) -> bool:
    return name[0][1].lower().startswith(stem + "_")


def _observed(names: Sequence[Levels], groups: Sequence[Group]) -> Iterator[Relation]:
    for one, two in itertools.combinations(names, 2):
        both = [group for group in groups if one in group and two in group]
        if len(both) < _FEWEST:
            continue
        for whole in names:
            if whole not in (one, two):
                relation = Relation(whole, (one, two))
                if _is_observed(relation, [group for group in both if whole in group]):
                    yield relation


def _is_observed(relation: Relation, groups: Sequence[Group]) -> bool:
    if len(groups) < _FEWEST:
        return False
    held, missed, digits = 0, 0, 0.0
    for group in groups:
        cells = relation.cells(group)
        if cells is not None and _adds_up(*cells):
            held += 1
            digits += _digits(*cells)
        else:
            missed += 1
            if missed > (1 - _MOST) * len(groups):
                return False
    return held >= _FEWEST - 1 and digits >= _DIGITS


def _digits(whole: Cell, parts: Sequence[Cell]) -> float:
    """How many digits of the smallest term the sum confirms; none where rounding hides it."""
    wide = sum(part.base.half_width for part in (whole, *parts)) or 0.5
    least = min(abs(part.base.middle) for part in (whole, *parts))
    return max(0.0, math.log10(least / (3 * wide))) if least > 0 else 0.0


PercentOf = Callable[[Interval, Interval], Interval]


def _gain(a: Interval, b: Interval) -> Interval:
    """(a - b) / a, with ``a`` taken once."""
    return Interval(1.0, 1.0) - b / a


FORMS: dict[str, PercentOf] = {
    "less": _gain,
    "more": lambda a, b: b / a - Interval(1.0, 1.0),
    "share": lambda a, b: b / a,
}


@dataclass(frozen=True)
class Percentage:
    """``percent`` is the change from ``base`` to ``other``, or the share of ``other``."""

    percent: Levels
    base: Levels
    other: Levels
    form: str

    def cells(self, group: Group) -> tuple[Cell, Cell, Cell] | None:
        names = (self.percent, self.base, self.other)
        return (group[names[0]], group[names[1]], group[names[2]]) if all(
            name in group for name in names) else None  # fmt: skip

    def wanted(self, group: Group) -> Interval | None:
        cells = self.cells(group)
        if cells is None:
            return None
        base, other = cells[1].base, cells[2].base
        if base.low <= 0 <= base.high:
            return None
        return FORMS[self.form](base, other).times(100.0)

    def face(self, base: float, other: float) -> float:
        """The percentage of two values as printed."""
        return FORMS[self.form](Interval(base, base), Interval(other, other)).middle * 100.0


def percentages_of(table: Table) -> list[Percentage]:
    """Of each percentage the pair and the form that most groups confirm, the closest of them."""
    percents = dict.fromkeys(n for g in table.groups for n, c in g.items() if c.unit == "percent")
    pairs = [pair for names in _pairs(table.groups) for pair in itertools.permutations(names, 2)]
    found = []
    for percent in percents:
        groups = [g for g in table.groups if percent in g and not g[percent].is_derived]
        best = max(
            (
                (score, one)
                for base, other in pairs
                for form in FORMS
                if (score := _score(one := Percentage(percent, base, other, form), groups))
            ),
            key=lambda scored: scored[0],
            default=None,
        )
        if best is not None:
            found.append(best[1])
    return found


def _pairs(groups: Sequence[Group]) -> Iterator[list[Levels]]:
    for names in _alike_any(groups).values():
        if 1 < len(names) <= _NAMES:
            yield names


def _alike_any(groups: Sequence[Group]) -> Mapping[str, list[Levels]]:
    found: dict[str, dict[Levels, None]] = defaultdict(dict)
    for group in groups:
        for name, cell in group.items():
            if cell.unit != "percent":
                found[cell.unit][name] = None
    return {unit: list(names) for unit, names in found.items()}


def _score(one: Percentage, groups: Sequence[Group]) -> tuple[int, int, float] | None:
    """How many groups confirm it, and how closely; ``None`` where too few do.

    Of forms that all agree within rounding, that is meant which some direction of rounding gives
    from the values as printed.
    """
    held, away, digits, tried = 0, 0.0, 0.0, 0
    exact: Counter[str] = Counter()
    for group in groups:
        wanted, cells = one.wanted(group), one.cells(group)
        if wanted is None or cells is None:
            continue
        tried += 1
        cell, face = cells[0], one.face(cells[1].number.value, cells[2].number.value)
        if cell.number.any_rounding.meets(wanted):
            held += 1
            away += abs(cell.number.value - face)
            wide = cell.interval.half_width + wanted.half_width
            size = abs(cell.number.value)
            digits += max(0.0, math.log10(size / wide)) if size and wide else 0.0
            exact.update(m for m in MODES if rounded(face, cell.number, m) == cell.number.value)
    if tried < _FEWEST or held < _MOST * tried or digits < _DIGITS / 2:
        return None
    return held, max(exact.values(), default=0), -away
