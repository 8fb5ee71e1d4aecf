"""A file of separated values, and what is wrong with it, each mistake with line and column."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from steelyard.errors import Complaint, StudyError
from steelyard.records.own_files.separated_values import Field

STANDARD_INPUT = Path("-")
ALIKE = 3
"""At most as many complaints of one kind are printed one by one."""


def read_text(path: Path, slug: str) -> str:
    """What stands in the file, or comes on standard input; every line break a line feed.

    Raises:
        StudyError: it cannot be read, or is no text in UTF-8.
    """
    try:
        content = sys.stdin.buffer.read() if path == STANDARD_INPUT else path.read_bytes()
        text = io.TextIOWrapper(io.BytesIO(content), encoding="utf-8-sig").read()
    except UnicodeDecodeError as error:
        raise _unreadable(path, "it is not UTF-8 text", slug) from error
    except OSError as error:
        raise _unreadable(path, error.strerror or str(error), slug) from error
    if "\0" in text:
        raise _unreadable(path, "it is not UTF-8 text", slug)
    return text


def _unreadable(path: Path, why: str, slug: str) -> StudyError:
    complaint = Complaint(path, 1, 1, f"cannot be read: {why}", "name a text file in UTF-8")
    return StudyError([complaint], slug=slug)


def refuse(slug: str, *kinds: Sequence[Complaint]) -> None:
    """Raise all complaints, of each kind the first alone where many are alike."""
    told: list[Complaint] = []
    for kind in kinds:
        told += [_first_of(kind)] if len(kind) > ALIKE else kind
    if told:
        raise StudyError(told, slug=slug)


def _first_of(alike: Sequence[Complaint]) -> Complaint:
    more = f"{alike[0].message} (and {len(alike) - 1} more rows alike)"
    return replace(alike[0], message=more)


def twice(path: Path, names: Sequence[Field]) -> list[Complaint]:
    seen: set[str] = set()
    found = []
    for field in names:
        if field.text in seen:
            message = f"the column `{field.text}` stands there twice"
            found.append(Complaint(path, field.line, field.column, message))
        seen.add(field.text)
    return found


def open_quotes(path: Path, rows: Iterable[Sequence[Field]]) -> list[Complaint]:
    hint = "was the file cut? else put quotes around the whole field, and write inner ones twice"
    message = "a quote is opened here and not closed"
    return [
        Complaint(path, field.line, field.column, message, hint)
        for row in rows
        for field in row
        if field.open_quote
    ]


def ragged(path: Path, rows: Sequence[Sequence[Field]], count: int) -> list[Complaint]:
    hint = (
        'put a field that holds the separator into "quotes"; with decimal commas, separate fields '
        "by semicolons and write decimal points"
    )
    return [
        Complaint(
            path,
            row[0].line,
            row[min(count, len(row)) - 1].column,
            f"{len(row)} fields where the header has {count}",
            hint,
        )
        for row in rows
        if len(row) != count
    ]
