"""Conclusions drawn from a table, as CSV: one claim a row, with its place.

``claim`` is the sentence. ``subject`` and ``than`` are levels of one column of the table;
``relation`` is better, worse, higher, lower or equal, ``by`` how much, ``metric`` of what. Every
other column is one of the table's and says where: a level, ``>= 20``, or ``1 | 2 | 3``.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from steelyard.consistency.cells import METRIC, Cell, Table
from steelyard.consistency.reading import read_rows
from steelyard.errors import Complaint
from steelyard.records.own_files.separated_file import refuse
from steelyard.records.own_files.separated_values import Field
from steelyard.units import UnitError, parse

_OWN = {"claim", "subject", "relation", "than", "by", METRIC}
_COMPARED: Mapping[str, Callable[[float, float], bool]] = {
    ">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt,
}  # fmt: skip
_BOUND = re.compile(r"(>=|<=|>|<)\s*([0-9.]+)")


class Comparison(StrEnum):
    """What a claim says of its subject; the first two by the direction of each metric."""

    BETTER = "better"
    WORSE = "worse"
    HIGHER = "higher"
    LOWER = "lower"
    EQUAL = "equal"


@dataclass(frozen=True)
class Claim:
    """A sentence, and the pairs of cells that it speaks of."""

    text: str
    relation: Comparison
    by: float
    pairs: tuple[tuple[Cell, Cell], ...]


def read_claims(path: Path, table: Table) -> list[Claim]:
    """The claims, each with its pairs of the table.

    Raises:
        StudyError: one cannot be read, or speaks of nothing in the table; with line and column.
    """
    names, rows = read_rows(path, slug="claims-file-is-wrong")
    known = {name for cell in table.cells for name in cell.row}
    header = {field.text: field for field in names}
    missing = [name for name in ("claim", "subject", "relation") if name not in header]
    hint = "a header `claim,subject,relation,than,by,metric`, then columns of the table"
    _refuse(
        [Complaint(path, names[0].line, 1, f"no column `{name}`", hint) for name in missing],
        [
            Complaint(path, f.line, f.column, f"the table has no column `{name}`", _known(known))
            for name, f in header.items()
            if name not in _OWN | known
        ],
    )
    keys = [field.text for field in names]
    return [_claim(path, dict(zip(keys, row, strict=True)), table) for row in rows]


def _refuse(*kinds: Sequence[Complaint], slug: str = "claims-file-is-wrong") -> None:
    refuse(slug, *kinds)


def _known(names: set[str]) -> str:
    return "its columns are " + ", ".join(f"`{name}`" for name in sorted(names))


def _claim(path: Path, row: Mapping[str, Field], table: Table) -> Claim:
    relation = _relation(path, row["relation"])
    text = row["claim"].text
    cells = [cell for cell in table.measured if _is_meant(cell, row)]
    pairs = _paired(cells, row["subject"].text, row["than"].text if "than" in row else "", table)
    if not pairs:
        message = f"no two values of the table are compared by `{text}`"
        hint = "`subject` and `than` are levels of one column; further columns choose rows"
        at = row["subject"]
        _refuse([Complaint(path, at.line, at.column, message, hint)])
    by_direction = relation in (Comparison.BETTER, Comparison.WORSE)
    if by_direction and any(_direction(one) is None for one, _ in pairs):
        at = row["relation"]
        message = f"the table does not say whether more is better of `{pairs[0][0].metric}`"
        hint = "write higher or lower, or give the table a column `direction`"
        _refuse([Complaint(path, at.line, at.column, message, hint)])
    return Claim(text, relation, _share(path, row.get("by")), tuple(pairs))


def _relation(path: Path, field: Field) -> Comparison:
    if field.text not in set(Comparison):
        message = f"`{field.text}` is no relation"
        hint = "write one of " + ", ".join(Comparison)
        _refuse([Complaint(path, field.line, field.column, message, hint)])
    return Comparison(field.text)


def _share(path: Path, field: Field | None) -> float:
    if field is None or not field.text:
        return 0.0
    try:
        return float(parse(field.text, "share"))
    except UnitError as error:
        complaint = Complaint(path, field.line, field.column, error.message, error.hint)
        _refuse([complaint])
        raise


def _direction(cell: Cell) -> str | None:
    told = cell.row.get("direction", "")
    return told if told in ("higher", "lower") else None


def _is_meant(cell: Cell, row: Mapping[str, Field]) -> bool:
    asked = {name: f.text for name, f in row.items() if name not in _OWN - {METRIC} and f.text}
    return all(_fits(cell.row.get(name, ""), text) for name, text in asked.items())


def _fits(level: str, asked: str) -> bool:
    bound = _BOUND.fullmatch(asked)
    if bound is not None and level.replace(".", "", 1).isdigit():
        return _COMPARED[bound[1]](float(level), float(bound[2]))
    return level in [each.strip() for each in asked.split("|")]


def _paired(
    cells: Sequence[Cell], subject: str, than: str, table: Table
) -> list[tuple[Cell, Cell]]:
    """Cells of the subject with those that differ in the column of its levels alone."""
    found = []
    for column in table.columns:
        others = [c for c in cells if c.level(column) == than or (not than and
                  c.level(column) != subject)]  # fmt: skip
        by_key: dict[object, list[Cell]] = {}
        for cell in others:
            by_key.setdefault(cell.key(column), []).append(cell)
        for cell in cells:
            if cell.level(column) == subject:
                found += [(cell, other) for other in by_key.get(cell.key(column), [])]
    return found
