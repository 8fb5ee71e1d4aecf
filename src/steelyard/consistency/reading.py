"""A CSV of published measurements: one value a row, or one row a measurement, with places."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from steelyard.consistency.cells import KIND, METRIC, PHASE, SEMANTIC, STATISTIC, Cell, Table
from steelyard.consistency.printed import printed
from steelyard.consistency.quantities import LOADS, is_exact, unit_of
from steelyard.errors import Complaint
from steelyard.records.own_files.separated_file import open_quotes, ragged, read_text, refuse, twice
from steelyard.records.own_files.separated_values import Field, rows_of

MOST_ROWS = 100_000
MOST_COLUMNS = 200
_NAMES = {
    METRIC: {"metric", "measure", "response", "quantity", "variable", "parameter", "attribute"},
    STATISTIC: {"statistic", "stat", "percentile", "quantile"},
    PHASE: {"phase", "stage", "step"},
    KIND: {"kind"},
}
_BESIDE = {"value", "printed", "unit", "direction", "samples", "note", "notes", "comment"}
REPLICATES = {"replications", "replicates", "repetitions", "repeats"}
_ORIGIN = ("source", "table", "figure", "page", "ref", "block", "section")
_DECIMAL_COMMA = re.compile(r"[+-]?[0-9]+,[0-9]+", re.ASCII)
_THOUSANDS = re.compile(r"[+-]?[1-9][0-9]{0,2},[0-9]{3}", re.ASCII)
"""What may as well be a whole number: ``1,234``."""
_IN_NAME = re.compile(r"(?P<name>.+?)\s*(?:_(?P<a>[A-Za-z]+)|[\[(](?P<b>[^\])]+)[\])])")
_PER_SECOND = re.compile(r"(?:(?P<name>.+)_)?(?P<work>[A-Za-z]+)(?:/|_per_)(?:s|sec|second)")
_RATES = {"iops", "tps", "rps"}
"""Names that are their own units."""
Row = Mapping[str, Field]


def read_table(path: Path) -> Table:
    """The table at ``path``, or on standard input.

    Raises:
        StudyError: it cannot be read, or is no table; with line and column.
    """
    names, rows = read_rows(path)
    keys = [field.text for field in names]
    found = [dict(zip(keys, row, strict=True)) for row in rows]
    _refuse_decimal_commas(path, found)
    cells = _long(found) if "value" in keys else _wide(found, keys)
    if not cells:
        hint = "give one number a row in a column `value`, or a column of numbers a quantity"
        _refuse([Complaint(path, names[0].line, 1, "there is no number to check", hint)])
    columns = _telling(cells)
    kept = [_with(cell, columns) for cell in cells]
    texts = sum(bool(row["value"].text) for row in found) - len(kept) if "value" in keys else (
        sum(_texts_in(key, found) for key in keys))  # fmt: skip
    lacks_value = "value" not in keys and "unit" in keys and METRIC in map(_column, keys)
    return Table(str(path), tuple(kept), tuple(columns), texts, lacks_value)


def read_rows(
    path: Path, slug: str = "published-table-is-wrong"
) -> tuple[list[Field], list[list[Field]]]:
    """Header and rows of a file that is whole.

    Raises:
        StudyError: it is YAML, empty, ragged, too long, or names a column twice.
    """
    if path.suffix in {".yaml", ".yml"}:
        hint = "`steelyard plan` checks a study file; give a CSV of measurements here"
        refuse(slug, [Complaint(path, 1, 1, "this is YAML and no table", hint)])
    text = read_text(path, slug)
    names, *rows = [*itertools.islice(rows_of(text), MOST_ROWS + 2)] or [[]]
    how = "a header, then one row for each value"
    if not names:
        refuse(slug, [Complaint(path, 1, 1, "the file is empty", how)])
    if not rows:
        refuse(slug, [Complaint(path, names[0].line, 1, "there is no row below the header", how)])
    if len(rows) > MOST_ROWS:
        refuse(slug, [Complaint(path, rows[-1][0].line, 1, f"more than {MOST_ROWS:,} rows")])
    if len(names) > MOST_COLUMNS:
        message = f"more than {MOST_COLUMNS} columns"
        refuse(slug, [Complaint(path, names[0].line, names[MOST_COLUMNS].column, message)])
    refuse(slug, twice(path, names), open_quotes(path, [names, *rows]))
    refuse(slug, ragged(path, rows, len(names)))
    return names, rows


def _refuse(*kinds: Sequence[Complaint], slug: str = "published-table-is-wrong") -> None:
    refuse(slug, *kinds)


def _refuse_decimal_commas(path: Path, rows: Sequence[Row]) -> None:
    _refuse([_decimal_comma(path, field) for field in _with_commas(rows)])


def _decimal_comma(path: Path, field: Field) -> Complaint:
    hint = f"write decimal points: {field.text.replace(',', '.')}"
    if _THOUSANDS.fullmatch(field.text):
        hint += f"; thousands without a separator: {field.text.replace(',', '')}"
    message = f"`{field.text}` has a decimal comma"
    return Complaint(path, field.line, field.column, message, hint)


def _with_commas(rows: Sequence[Row]) -> list[Field]:
    """Fields with a decimal comma: values, or those of a column of nothing but numbers."""
    names = list(rows[0])
    if "value" in names:
        return [row["value"] for row in rows if _DECIMAL_COMMA.fullmatch(row["value"].text)]
    return [field for name in names if not _is_beside(name) for field in _commas_in(name, rows)]


def _commas_in(name: str, rows: Sequence[Row]) -> list[Field]:
    """None where all may separate thousands: such a column is one of texts."""
    fields = [row[name] for row in rows if row[name].text]
    commas = [field for field in fields if _DECIMAL_COMMA.fullmatch(field.text)]
    numbers = sum(printed(field.text) is not None for field in fields)
    mixed = len(commas) + numbers < len(fields)
    return [] if mixed or all(_THOUSANDS.fullmatch(f.text) for f in commas) else commas


def _long(rows: Sequence[Row]) -> list[Cell]:
    found = []
    for row in rows:
        value = row["value"]
        unit = row["unit"].text if "unit" in row else ""
        number = printed(value.text, exact=is_exact(unit, value.text))
        if number is not None:
            texts = {_column(name): field.text for name, field in row.items()}
            cell = Cell(value.line, value.column, "value", number, unit, _levels(texts), texts)
            found.append(cell)
    return found


def _wide(rows: Sequence[Row], keys: Sequence[str]) -> list[Cell]:
    """A cell of every column of numbers that is no load; the others tell rows apart."""
    numbers = [key for key in keys if _is_measured(key, rows)]
    found = []
    for at, row in enumerate(rows, start=1):
        beside = {_column(name): field.text for name, field in row.items() if name not in numbers}
        own = {"row": str(at), **beside}
        for key in numbers:
            name, unit = _named_unit(key)
            field = row[key]
            number = printed(field.text, exact=is_exact(unit, field.text))
            if number is not None:
                texts = {**own, METRIC: name, "unit": unit}
                found.append(
                    Cell(field.line, field.column, key, number, unit, _levels(texts), texts)
                )
    return found


def _is_measured(key: str, rows: Sequence[Row]) -> bool:
    texts = [row[key].text for row in rows if row[key].text]
    beside = _is_beside(key)
    return bool(texts) and not beside and all(printed(text) is not None for text in texts)


def _texts_in(key: str, rows: Sequence[Row]) -> int:
    """Fields of a column that is left out since some of its numbers have separated thousands."""
    texts = [row[key].text for row in rows if row[key].text]
    separated = sum(_THOUSANDS.fullmatch(text) is not None for text in texts)
    plain = sum(printed(text) is not None for text in texts)
    return len(texts) if separated and separated + plain == len(texts) else 0


def _is_beside(key: str) -> bool:
    """Whether a column says more of the measurements and is none, whatever it holds."""
    name = key.lower()
    return name in LOADS or name in REPLICATES or name in _BESIDE or _is_origin(name)


def _named_unit(key: str) -> tuple[str, str]:
    """``latency (ms)`` and ``latency_ms`` are a latency in ms; ``failed`` has no unit.

    ``req_per_s`` and ``sent_MB/s`` are rates.
    """
    if key.lower() in _RATES:
        return key, key
    if rate := _PER_SECOND.fullmatch(key):
        unit = f"{rate['work']}/s"
        return (rate["name"] or key, unit) if unit_of(unit) else (key, "")
    found = _IN_NAME.fullmatch(key)
    unit = (found["a"] or found["b"]) if found else ""
    known = unit == "percent" or (unit_of(unit) is not None and unit != "b")
    return (found["name"], unit) if found and unit and known else (key, "")


def _column(name: str) -> str:
    lower = name.lower()
    return next((own for own, known in _NAMES.items() if lower in known), name)


def _levels(texts: Mapping[str, str]) -> dict[str, str]:
    return {
        name: text
        for name, text in texts.items()
        if name.lower() not in _BESIDE and name.lower() not in REPLICATES
    }


def _is_origin(name: str) -> bool:
    return name.lower().split("_")[0] in _ORIGIN


def _telling(cells: Sequence[Cell]) -> list[str]:
    """The columns that tell cells apart.

    Not those that say where a value was printed, nor those that follow from another, unless
    cells would be confused without them.
    """
    names = list(cells[0].levels)
    kept = [name for name in names if len({cell.levels[name] for cell in cells}) > 1 or
            name in SEMANTIC]  # fmt: skip
    apart = _distinct(cells, kept)
    spare = sorted((n for n in reversed(kept) if n not in SEMANTIC), key=_spare_first)
    for name in spare:
        rest = [other for other in kept if other != name]
        if (_is_origin(name) or name == "row" or _follows(name, rest, cells)) and (
            _distinct(cells, rest) == apart
        ):
            kept = rest
    return kept


def _spare_first(name: str) -> int:
    return 0 if name == "row" else 1 if _is_origin(name) else 2


def _distinct(cells: Sequence[Cell], names: Sequence[str]) -> int:
    return len({tuple(cell.levels[name] for name in names) for cell in cells})


def _follows(name: str, others: Sequence[str], cells: Sequence[Cell]) -> bool:
    """Whether each level of one other column has one level of ``name``."""
    for other in others:
        if other in SEMANTIC:
            continue
        pairs = {(cell.levels[other], cell.levels[name]) for cell in cells}
        if len(pairs) == len({level for level, _ in pairs}):
            return True
    return False


def _with(cell: Cell, columns: Sequence[str]) -> Cell:
    levels = {name: cell.levels[name] for name in columns}
    return Cell(cell.line, cell.column, cell.header, cell.number, cell.unit, levels, cell.row)
