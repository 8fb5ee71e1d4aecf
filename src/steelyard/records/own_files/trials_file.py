"""Trials that somebody measured elsewhere, as CSV: rows in order of measurement, with places.

A header names the columns. ``order`` says when: rows of one number, or of one time, are one visit,
at several loads. Every mistake is reported with its line and column; one that four rows or more
share, once.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from steelyard.errors import Complaint, StudyError
from steelyard.records.own_files.separated_file import (
    ALIKE,
    open_quotes,
    ragged,
    read_text,
    refuse,
    twice,
)
from steelyard.records.own_files.separated_values import Field, rows_of
from steelyard.study.model import Level

NEEDED = ("order", "system")
_NAMES = ("system", "load", "block", "machine")
_NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,3})?", re.ASCII)
_DECIMAL_COMMA = re.compile(r"[+-]?[0-9]+,[0-9]+", re.ASCII)
MOST_ROWS = 100_000
"""Of five systems at twenty loads as many as are judged; a file is not read beyond it."""
_SLUG = "trials-file-is-wrong"
_HOW = "a header `order,system,response`, then one row for each trial"


@dataclass(frozen=True)
class TrialsFile:
    """The rows, sorted by ``order``; ``header`` and ``rows`` keep the place of every field."""

    path: Path
    header: dict[str, Field]
    rows: tuple[dict[str, Field], ...]
    order: tuple[float, ...] = ()

    def has(self, name: str) -> bool:
        return name in self.header

    def texts(self, name: str) -> list[str]:
        return [row[name].text for row in self.rows]

    def numbers(self, name: str) -> list[float]:
        """A column of numbers.

        Raises:
            StudyError: a field is empty or not a number.
        """
        found = [_number(text) for text in self.texts(name)]
        wrong: dict[str, list[Complaint]] = {}
        for row, number in zip(self.rows, found, strict=True):
            if number is None:
                kind, message, hint = _no_number(row[name].text, name)
                wrong.setdefault(kind, []).append(self.complaint(message, hint, row[name]))
        _refuse(*wrong.values())
        return [number for number in found if number is not None]

    def by_machine(self) -> dict[str, TrialsFile]:
        """The rows of each machine in their order; without the column all rows under no name."""
        if not self.has("machine"):
            return {"": self}
        places: dict[str, list[int]] = {}
        for place, name in enumerate(self.texts("machine")):
            places.setdefault(name, []).append(place)
        return {
            name: replace(
                self,
                rows=tuple(self.rows[place] for place in own),
                order=tuple(self.order[place] for place in own),
            )
            for name, own in places.items()
        }

    def refuse_gaps(self) -> None:
        """Refuse visits that were numbered and are not there.

        Machines whose numbers are not apart from each other's were numbered each by itself.

        Raises:
            StudyError: ``order`` counts from 0 or 1, mostly by one, and leaves numbers out.
        """
        machines = self.by_machine()
        if len(machines) > 1 and sum(len(set(m.order)) for m in machines.values()) > len(
            set(self.order)
        ):
            for each in machines.values():
                each.refuse_gaps()
            return
        seen = list(dict.fromkeys(self.order))
        if len(seen) < len(self.order) and not self.has("load"):
            return  # a number that stands there twice is refused instead, with its place
        steps = [behind - before for before, behind in itertools.pairwise(seen)]
        counted = seen[:1] in ([0], [1]) and all(step.is_integer() for step in steps)
        if not counted or 2 * steps.count(1) <= len(steps):
            return
        gaps = [at for at, step in enumerate(steps, start=1) if step > 1]
        missing = [n for at in gaps for n in range(int(seen[at - 1]) + 1, int(seen[at]))]
        if missing:
            shown = ", ".join(str(n) for n in missing[:ALIKE])
            more = f" and {len(missing) - ALIKE} more" if len(missing) > ALIKE else ""
            row = self.rows[self.order.index(seen[gaps[0]])]
            message = f"visits were left out: {shown}{more}"
            hint = (
                "repeat a trial that failed in its place, on the same system, and give all of them;"
                " number anew only where nothing was measured under these numbers"
            )
            _refuse([self.complaint(message, hint, row["order"])])

    def levels(self, name: str) -> list[Level]:
        """A column of levels: numbers where all are, else words."""
        texts = self.texts(name)
        numbers = [number for text in texts if (number := _number(text)) is not None]
        if len(numbers) < len(texts):
            return list(texts)
        return [int(number) if number.is_integer() else number for number in numbers]

    def complaint(self, message: str, hint: str | None, field: Field) -> Complaint:
        return Complaint(self.path, field.line, field.column, message, hint)


def read_trials(path: Path, response: str, most_visits: int = MOST_ROWS) -> TrialsFile:
    """The file at ``path``, or standard input, whose column ``response`` has what was measured.

    ``most_visits``: of two systems. They are counted before any field is read as a number.

    Raises:
        StudyError: it cannot be read, is not CSV with the columns that are needed, or is too long.
    """
    return parse_trials(read_text(path, _SLUG), path, response, most_visits)


def parse_trials(text: str, path: Path, response: str, most_visits: int = MOST_ROWS) -> TrialsFile:
    """The rows of ``text``; ``path`` is named in complaints."""
    names, *rows = [*itertools.islice(rows_of(text), MOST_ROWS + 2)] or [[]]
    if not names:
        raise StudyError([Complaint(path, 1, 1, "the file is empty", _HOW)], slug=_SLUG)
    header = {field.text: field for field in names}
    wrong = []
    if missing := [name for name in (*NEEDED, response) if name not in header]:
        message = "no column " + " and none ".join(f"`{name}`" for name in missing)
        wrong.append(Complaint(path, names[0].line, 1, message, _hint(missing[0], names)))
    elif not rows:
        wrong.append(Complaint(path, names[0].line, 1, "there is no trial", _HOW))
    _refuse([*_too_long(path, rows, [field.text for field in names], most_visits)])
    _refuse(wrong, twice(path, names), open_quotes(path, [names, *rows]))
    _refuse(ragged(path, rows, len(names)))
    keys = [field.text for field in names]
    found = TrialsFile(path, header, tuple(dict(zip(keys, row, strict=True)) for row in rows))
    _refuse_empty(found)
    order = _positions(found)
    places = sorted(range(len(order)), key=lambda i: order[i])
    return replace(
        found,
        rows=tuple(found.rows[i] for i in places),
        order=tuple(order[i] for i in places),
    )


def _too_long(
    path: Path, rows: Sequence[Sequence[Field]], columns: Sequence[str], most_visits: int
) -> Iterator[Complaint]:
    """What is too much of a file, whichever of its systems is the baseline."""
    if len(rows) > MOST_ROWS:
        message = f"more than {MOST_ROWS:,} rows"
    elif (visits := _visits_of_two(rows, columns)) > most_visits:
        message = f"{len(rows):,} rows hold {visits:,} visits of two systems"
    else:
        return
    hint = (
        f"at most {most_visits:,} visits of two systems are judged: give one row for each trial, "
        "and not for each request or sample within it; if a number was planned before the first "
        "trial, give the rows up to it"
    )
    yield Complaint(path, rows[-1][0].line, 1, message, hint)


def _visits_of_two(rows: Sequence[Sequence[Field]], columns: Sequence[str]) -> int:
    """Of the pair of systems with the fewest that every choice of a baseline has."""
    if not set(NEEDED) <= set(columns):
        return 0
    order, system = map(columns.index, NEEDED)
    whole = (row for row in rows if len(row) == len(columns))
    counts = Counter({row[order].text: row[system].text for row in whole}.values()).values()
    return min(counts) + max(counts) if len(counts) > 1 else sum(counts)


def _refuse(*kinds: Sequence[Complaint]) -> None:
    refuse(_SLUG, *kinds)


def _refuse_empty(found: TrialsFile) -> None:
    """A name that is not there is no name: of a system, a load, a block."""
    _refuse(
        *(
            [
                found.complaint(f"no `{name}`", "write one in every row", row[name])
                for row in found.rows
                if not row[name].text
            ]
            for name in _NAMES
            if found.has(name)
        )
    )


def _positions(found: TrialsFile) -> list[float]:
    """``order`` as numbers; times as seconds."""
    times = [_time(text) for text in found.texts("order")]
    zones = Counter(time.tzinfo is None for time in times if time is not None)
    if not zones:
        return found.numbers("order")
    usual = zones[True] >= zones[False]
    hint = "write a number in each row, or a time in each, all with their zone or all without"
    _refuse(
        [
            found.complaint(
                f"`{row['order'].text}` is no time as the others are", hint, row["order"]
            )
            for row, time in zip(found.rows, times, strict=True)
            if time is None or (time.tzinfo is None) != usual
        ]
    )
    return [
        (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()
        for time in times
        if time is not None
    ]


def _time(text: str) -> datetime | None:
    """A time of ISO 8601 with its date; digits alone are a number."""
    try:
        return None if "-" not in text[1:] or _number(text) else datetime.fromisoformat(text)
    except ValueError:
        return None


def _number(text: str) -> float | None:
    """Digits with a decimal point and perhaps an exponent, nothing else."""
    return float(text) if _NUMBER.fullmatch(text) else None


def _no_number(text: str, name: str) -> tuple[str, str, str]:
    """Why a field is no number: of what kind that is, in words, and what to do."""
    hint = "write it like 1234.5; a trial that failed is repeated in its place"
    if name == "order":
        hint = "number the trials 1, 2, 3, or write times like 2026-11-23T14:05:07"
    if not text:
        return "empty", f"no `{name}`", hint
    if _DECIMAL_COMMA.fullmatch(text):
        point = f"write decimal points: {text.replace(',', '.')}"
        return "comma", f"`{text}` has a decimal comma", point
    return "other", f"`{text}` is not a number", hint


def _hint(name: str, names: Sequence[Field]) -> str:
    known = ", ".join(f"`{field.text}`" for field in names)
    if name in NEEDED:
        return f"{_HOW}; the columns are {known}"
    return f"name the column that holds what was measured with --response; they are {known}"
