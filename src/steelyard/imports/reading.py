"""From one file of another tool to its trials: all of it, or why nothing of it is used."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from steelyard.errors import Complaint, StudyError
from steelyard.imports.kind import ImportedMetric, Kind, Rows
from steelyard.imports.metrics import refused_reason, scaled, taken
from steelyard.imports.output import Found, NotThereError, Printed
from steelyard.records.separated_values import rows_of
from steelyard.study.declared.conditions import holds
from steelyard.study.declared.json_path import as_text, values_at
from steelyard.study.model import Level
from steelyard.study.workload.entry import is_version, within

MOST_BYTES = 256 * 2**20
_SOURCE = "stdout"
_ROW_NAME = "name"

Values = dict[str, float]


@dataclass(frozen=True)
class Result:
    """One row of a file, or all of it: the numbers of each trial, in the order of the file."""

    name: str | None
    conditions: dict[str, Level]
    trials: tuple[Values, ...]


@dataclass(frozen=True)
class ResultFile:
    """All that one file says."""

    path: Path
    data: bytes
    version: str | None
    results: tuple[Result, ...]

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.data).hexdigest()


def read_file(path: Path, kind_name: str, kind: Kind) -> ResultFile:
    """A file of this kind.

    Raises:
        StudyError: it cannot be read, is of another tool or version, or was cut; with its place.
    """
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        why = f"cannot be read: {error.strerror or error}"
        raise _wrong(path, 1, why, "name a file that is there") from error
    if len(data) > MOST_BYTES:
        raise _wrong(path, 1, "is larger than 256 MiB", "import a summary of it")
    return parse_file(data, path, kind_name, kind)


def parse_file(data: bytes, path: Path, kind_name: str, kind: Kind) -> ResultFile:
    """What the ``data`` of a file say; ``path`` is named in complaints.

    Raises:
        StudyError: as ``read_file``.
    """
    text = _text(data, path)
    document = _document(text, path, kind_name) if kind.is_json else None
    last = text.count("\n") + (not text.endswith("\n")) or 1
    whole = _printed(kind, text, document)
    for look in kind.holds:
        try:
            whole.found(look)
        except NotThereError as error:
            raise _wrong(
                path,
                1,
                f"is no file of {kind_name}: {error}",
                f"such a file is made by `{kind.made}`",
            ) from error
    version = _version(whole, path, kind_name, kind)
    if kind.ends is not None and re.search(kind.ends, text) is None:
        message = f"ends before the result of {kind_name} does"
        raise _wrong(path, last, message, "it was cut: give the whole file")
    try:
        results = tuple(_results(kind, text, document, path))
    except NotThereError as error:
        raise _wrong(
            path,
            last if document is None else 1,
            f"cannot be read as {kind_name}: {error}",
            f"it was cut, or is of a version that was not seen ({', '.join(kind.seen)} were)",
        ) from error
    return ResultFile(path, data, version, results)


def _text(data: bytes, path: Path) -> str:
    if not data.strip():
        raise _wrong(path, 1, "is empty", "give the file that the tool wrote")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise _wrong(path, line, "is not UTF-8 text", "give it as the tool wrote it") from error
    return text.replace("\r\n", "\n")


def _document(text: str, path: Path, kind_name: str) -> object:
    try:
        document: object = json.loads(text)
    except json.JSONDecodeError as error:
        message = f"is no JSON, as files of {kind_name} are: {error.msg}"
        raise _wrong(
            path, error.lineno, message, "was it cut? give it as the tool wrote it", error.colno
        ) from error
    except (RecursionError, ValueError) as error:
        raise _wrong(path, 1, f"cannot be read as JSON: {error}", None) from error
    return document


def _printed(kind: Kind, text: str, document: object = None) -> Printed:
    """The same text whatever stream or file the catalogue reads it from."""
    looks = [*kind.holds, *kind.metrics.values(), *kind.refuses, *kind.conditions.values()]
    looks += [part for m in kind.metrics.values() for part in (m.per, m.needs) if part is not None]
    sources = {look.source for look in looks} | {t.source for t in kind.tables.values()} | {_SOURCE}
    documents = {} if document is None else dict.fromkeys(sources, document)
    return Printed(dict.fromkeys(sources, text), kind.tables, str, {}, documents)


def _version(whole: Printed, path: Path, kind_name: str, kind: Kind) -> str | None:
    if kind.version is None:
        return None
    known = kind.version
    try:
        said = whole.found(known)[0].text
    except NotThereError as error:
        raise _wrong(path, 1, f"does not say its version: {error}", None) from error
    found = re.search(r"[0-9]+(?:\.[0-9]+)*", said)
    if found is None or not is_version(found[0]):
        raise _wrong(path, 1, f"has the version `{said}`, which is none", None)
    if not within(found[0], known.least, known.before):
        until = "" if known.before is None else f" and before {known.before}"
        raise _wrong(
            path,
            1,
            f"is of version {said} of {kind_name}, and those from {known.least}{until} are read",
            "make it with such a version",
        )
    return said


def _results(kind: Kind, text: str, document: object, path: Path) -> Iterator[Result]:
    whole = _printed(kind, text, document)
    reason = refused_reason(kind.refuses, whole) if kind.rows is None else None
    if reason is not None:
        raise NotThereError(reason)
    conditions = {name: _level(whole.found(look)[0].text) for name, look in kind.conditions.items()}
    if kind.rows is None:
        yield Result(None, conditions, tuple(_trials(kind, whole)))
        return
    found: dict[str | None, list[Values]] = {}
    for name, part in _parts(kind, kind.rows, text, document, path):
        if (reason := refused_reason(kind.refuses, part)) is not None:
            raise NotThereError(f"`{name}`: {reason}")
        try:
            found.setdefault(name, []).extend(_trials(kind, part))
        except NotThereError as error:
            raise NotThereError(f"`{name}`: {error}") from error
    if not found:
        raise NotThereError("it holds no result")
    for name, trials in found.items():
        yield Result(name, conditions, tuple(trials if kind.each else [_together(trials)]))


def _parts(
    kind: Kind, rows: Rows, text: str, document: object, path: Path
) -> Iterator[tuple[str | None, Printed]]:
    """The rows of a file, by name."""
    if rows.pattern is not None:
        for match in re.finditer(rows.pattern, text, re.MULTILINE):
            yield match[_ROW_NAME], _printed(kind, match[0] + "\n")
        return
    if rows.csv:
        items: list[object] = [*_csv_rows(text, path)]
    else:
        try:
            items = values_at(document, rows.json_path or "*")
        except LookupError as error:
            raise NotThereError(f"nothing at `{rows.json_path}`: there is no `{error}`") from error
    for item in items:
        if all(_text_at(item, at) == wanted for at, wanted in rows.only.items()):
            name = None if rows.name is None else _text_at(item, rows.name)
            yield name, _printed(kind, "", item)


def _csv_rows(text: str, path: Path) -> Iterator[dict[str, str]]:
    header, *rows = rows_of(text)
    keys = [field.text for field in header]
    for row in rows:
        if len(row) != len(keys) or any(field.open_quote for field in row):
            message = f"{len(row)} fields where the header has {len(keys)}"
            raise _wrong(path, row[0].line, message, "was it cut? give the whole file")
        yield dict(zip(keys, [field.text for field in row], strict=True))


def _text_at(item: object, path: str) -> str:
    try:
        values = values_at(item, path)
    except LookupError as error:
        raise NotThereError(f"nothing at `{path}`: there is no `{error}`") from error
    return as_text(values[0]) if values else ""


def _trials(kind: Kind, part: Printed) -> list[Values]:
    """The numbers of a row: of one trial, or of as many as there are numbers."""
    settings = {name: part.found(look)[0].text.lower() for name, look in kind.settings.items()}
    columns: dict[str, list[float]] = {}
    for name, metric in kind.metrics.items():
        if not holds(metric.when, settings):
            continue
        try:
            numbers = _numbers(kind, metric, part)
        except NotThereError as error:
            if name not in kind.optional:
                raise NotThereError(f"{name}: {error}") from error
            continue
        if numbers:
            columns[name] = [_finite(value, name) for value in numbers]
    lengths = {len(values) for values in columns.values()}
    if len(lengths) != 1:
        raise NotThereError("its numbers are not of the same trials")
    return [{name: values[i] for name, values in columns.items()} for i in range(lengths.pop())]


def _numbers(kind: Kind, metric: ImportedMetric, part: Printed) -> list[float]:
    if metric.needs is not None:
        count = taken(part.found(metric.needs), metric.needs, 1.0)
        if count < metric.needs.at_least:
            return []
    try:
        found = part.found(metric)
    except NotThereError:
        if metric.absent is None:
            raise
        return [metric.absent]
    if metric.unit_at is not None:
        unit = _text_at(part.documents[metric.source], metric.unit_at)
        found = [Found(one.text, unit) for one in found]
    scale = kind.scales[metric.scale] if isinstance(metric.scale, str) else metric.scale
    values = [scaled(one, scale) for one in found] if kind.each else [taken(found, metric, scale)]
    if metric.per is None:
        return values
    divisor = taken(part.found(metric.per), metric.per, 1.0)
    return [value / divisor for value in values] if divisor else []


def _finite(value: float, name: str) -> float:
    if not math.isfinite(value):
        raise NotThereError(f"{name} is not finite")
    return value


def _together(trials: list[Values]) -> Values:
    """Repetitions within one process are one trial: the median of each number."""
    shared = [name for name in trials[0] if all(name in trial for trial in trials)]
    return {name: median(trial[name] for trial in trials) for name in shared}


def _level(text: str) -> Level:
    return int(text) if text.isdecimal() and len(text) < 16 else text


def _wrong(path: Path, line: int, message: str, hint: str | None, column: int = 1) -> StudyError:
    return StudyError([Complaint(path, line, column, message, hint)], slug="imported-file-is-wrong")
