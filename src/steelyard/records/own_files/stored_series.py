"""Figures that others stored over time, as CSV: a row for each time or commit, oldest first."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from pathlib import Path

from steelyard.errors import Complaint
from steelyard.records.own_files.separated_file import open_quotes, ragged, read_text, refuse, twice
from steelyard.records.own_files.separated_values import Field, rows_of

MOST_ROWS = 100_000
_HOW = "a header `time,METRIC,...`, then a row for each time or commit, the oldest first"


@dataclass(frozen=True)
class StoredSeries:
    """One metric; ``labels`` are its times or commits. Never a series of one randomised run."""

    metric: str
    labels: tuple[str, ...]
    values: tuple[float, ...]


def read_series(path: Path, slug: str = "stored-series-is-wrong") -> list[StoredSeries]:
    """Each column of the file but the first; empty fields are left out. ``slug`` is of complaints.

    Raises:
        StudyError: it cannot be read, or is no such CSV; each mistake with line and column.
    """
    names, *rows = [*itertools.islice(rows_of(read_text(path, slug)), MOST_ROWS + 2)] or [[]]
    if not names:
        refuse(slug, [Complaint(path, 1, 1, "the file is empty", _HOW)])
    if len(rows) > MOST_ROWS:
        refuse(slug, [Complaint(path, rows[-1][0].line, 1, f"more than {MOST_ROWS:,} rows", _HOW)])
    if len(names) < 2 or not rows:
        refuse(slug, [Complaint(path, names[0].line, 1, "there is no figure", _HOW)])
    refuse(slug, twice(path, names), open_quotes(path, [names, *rows]))
    refuse(slug, ragged(path, rows, len(names)))
    columns = [_column(path, name.text, i, rows) for i, name in enumerate(names) if i]
    refuse(slug, *(wrong for _, wrong in columns))
    return [series for series, _ in columns]


def _column(
    path: Path, metric: str, at: int, rows: list[list[Field]]
) -> tuple[StoredSeries, list[Complaint]]:
    filled = [row for row in rows if row[at].text]
    numbers = [_number(row[at].text) for row in filled]
    wrong = [
        Complaint(path, row[at].line, row[at].column, f"`{row[at].text}` is no number", _HOW)
        for row, number in zip(filled, numbers, strict=True)
        if number is None
    ]
    known = tuple(number for number in numbers if number is not None)
    return StoredSeries(metric, tuple(row[0].text for row in filled), known), wrong


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None
