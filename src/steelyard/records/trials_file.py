"""Trials that somebody measured elsewhere, as CSV: rows in order of measurement, with places.

A header names the columns. ``order`` numbers the visits: rows of one number are one visit, at
several loads. Every mistake is reported with its line and column.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from steelyard.errors import Complaint, StudyError
from steelyard.study.model import Level

NEEDED = ("order", "system")
_NAMES = ("system", "load", "block")
OPTIONAL = ("block", "load", "covariate")
_SEPARATORS = ",;\t"
_SLUG = "trials-file-is-wrong"
_HOW = "a header `order,system,response`, then one row for each trial"


class Field(NamedTuple):
    """One field as written, and the place of its first character, from 1."""

    text: str
    line: int
    column: int


@dataclass(frozen=True)
class TrialsFile:
    """The rows, sorted by their order; ``header`` and ``rows`` keep the place of every field."""

    path: Path
    header: dict[str, Field]
    rows: tuple[dict[str, Field], ...]

    def has(self, name: str) -> bool:
        return name in self.header

    def texts(self, name: str) -> list[str]:
        return [row[name].text for row in self.rows]

    def numbers(self, name: str) -> list[float]:
        """A column of numbers.

        Raises:
            StudyError: a field is empty or not a number; all of them are reported.
        """
        found = [_number(row[name].text) for row in self.rows]
        wrong = [
            self.complaint(
                f"`{row[name].text}` is not a number" if row[name].text else f"no `{name}`",
                "write it like 1234.5; a trial that failed is repeated in its place",
                row[name],
            )
            for row, number in zip(self.rows, found, strict=True)
            if number is None
        ]
        if wrong:
            raise StudyError(wrong, slug=_SLUG)
        return [number for number in found if number is not None]

    def levels(self, name: str) -> list[Level]:
        """A column of levels: numbers where all are, else words."""
        texts = self.texts(name)
        numbers = [number for text in texts if (number := _number(text)) is not None]
        if len(numbers) < len(texts):
            return list(texts)
        return [int(number) if number.is_integer() else number for number in numbers]

    def complaint(self, message: str, hint: str | None, field: Field) -> Complaint:
        return Complaint(self.path, field.line, field.column, message, hint)


def read_trials(path: Path, response: str) -> TrialsFile:
    """The file at ``path``, whose column ``response`` holds what was measured.

    Raises:
        StudyError: it cannot be read, or is not CSV with the columns that are needed.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is not UTF-8 text"
        complaint = Complaint(path, 1, 1, f"cannot be read: {why}", "name a text file in UTF-8")
        raise StudyError([complaint], slug=_SLUG) from error
    return parse_trials(text, path, response)


def parse_trials(text: str, path: Path, response: str) -> TrialsFile:
    """The rows of ``text``; ``path`` is named in complaints."""
    lines = [(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    if not lines:
        raise StudyError([Complaint(path, 1, 1, "the file is empty", _HOW)], slug=_SLUG)
    separator = next((each for each in _SEPARATORS if each in lines[0][1]), ",")
    names = fields_of(lines[0][1], lines[0][0], separator)
    header = {field.text: field for field in names}
    wrong = [
        Complaint(path, lines[0][0], 1, f"no column `{name}`", _hint(name, names))
        for name in (*NEEDED, response)
        if name not in header
    ]
    wrong += _twice(path, names)
    rows = [fields_of(line, number, separator) for number, line in lines[1:]]
    wrong += _ragged(path, rows, len(names))
    if not rows:
        wrong.append(Complaint(path, lines[0][0], 1, "there is no trial", _HOW))
    if wrong:
        raise StudyError(wrong, slug=_SLUG)
    keys = [field.text for field in names]
    found = TrialsFile(path, header, tuple(dict(zip(keys, row, strict=True)) for row in rows))
    _refuse_empty(found)
    order = found.numbers("order")
    sorted_rows = [found.rows[i] for i in sorted(range(len(order)), key=lambda i: order[i])]
    return TrialsFile(path, header, tuple(sorted_rows))


def _refuse_empty(found: TrialsFile) -> None:
    """A name that is not there is no name: of a system, a load, a block."""
    wrong = [
        found.complaint(f"no `{name}`", "write one in every row", row[name])
        for name in _NAMES
        if found.has(name)
        for row in found.rows
        if not row[name].text
    ]
    if wrong:
        raise StudyError(wrong, slug=_SLUG)


def fields_of(line: str, number: int, separator: str) -> list[Field]:
    """The fields of a line. Quotes may hold separators; a doubled one stands for itself."""
    cuts, quoted = [-1], False
    for at, character in enumerate(line):
        quoted ^= character == '"'
        if character == separator and not quoted:
            cuts.append(at)
    fields = []
    for before, behind in itertools.pairwise([*cuts, len(line)]):
        raw = line[before + 1 : behind]
        column = before + 2 + len(raw) - len(raw.lstrip())
        fields.append(Field(_unquoted(raw.strip()), number, column))
    return fields


def _unquoted(text: str) -> str:
    whole = len(text) > 1 and text.startswith('"') and text.endswith('"')
    return text[1:-1].replace('""', '"') if whole else text


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return None if math.isnan(number) else number


def _hint(name: str, names: Sequence[Field]) -> str:
    known = ", ".join(f"`{field.text}`" for field in names)
    if name in NEEDED:
        return f"{_HOW}; the columns are {known}"
    return f"name the column that holds what was measured with --response; they are {known}"


def _twice(path: Path, names: Sequence[Field]) -> list[Complaint]:
    seen: set[str] = set()
    found = []
    for field in names:
        if field.text in seen:
            message = f"the column `{field.text}` stands there twice"
            found.append(Complaint(path, field.line, field.column, message))
        seen.add(field.text)
    return found


def _ragged(path: Path, rows: Sequence[Sequence[Field]], count: int) -> list[Complaint]:
    return [
        Complaint(
            path,
            row[0].line,
            row[min(count, len(row)) - 1].column,
            f"{len(row)} fields where the header has {count}",
            'put a field that holds the separator into "quotes"',
        )
        for row in rows
        if len(row) != count
    ]
