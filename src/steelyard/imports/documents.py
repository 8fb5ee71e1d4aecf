"""From the text of a file to what JSON paths lead through, whatever it is written in. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from xml.etree import ElementTree as ET

from steelyard.errors import Complaint, StudyError
from steelyard.imports.kind import CsvForm, Kind
from steelyard.records.own_files.separated_values import Field, rows_of

_CUT = "was it cut? give it as the tool wrote it"


class Row(dict[str, object]):
    """What stands in one line of a file, which counts from 1."""

    def __init__(self, held: Mapping[str, object], line: int) -> None:
        super().__init__(held)
        self.line = line


def wrong(path: Path, line: int, message: str, hint: str | None, column: int = 1) -> StudyError:
    """The one complaint about a file."""
    return StudyError([Complaint(path, line, column, message, hint)], slug="imported-file-is-wrong")


def document_of(text: str, path: Path, kind_name: str, kind: Kind) -> object:
    """The document that a file is; of lines, a list of them; ``None`` of a text.

    Raises:
        StudyError: it is none, with the place of the mistake.
    """
    if kind.format == "text":
        return None
    return _READERS[kind.format](text, path, kind_name, kind)


def _json(text: str, path: Path, kind_name: str, _kind: Kind) -> object:
    return _parsed(text, path, f"is no JSON, as files of {kind_name} are", 1)


def _ndjson(text: str, path: Path, kind_name: str, _kind: Kind) -> object:
    why = f"is no JSON, as every line of {kind_name} is"
    found = [
        (number, _parsed(line, path, why, number))
        for number, line in enumerate(text.split("\n"), start=1)
        if line.strip()
    ]
    return [Row(held, number) if isinstance(held, dict) else held for number, held in found]


def _parsed(text: str, path: Path, why: str, line: int) -> object:
    try:
        document: object = json.loads(text)
    except json.JSONDecodeError as error:
        at = line + error.lineno - 1
        raise wrong(path, at, f"{why}: {error.msg}", _CUT, error.colno) from error
    except (RecursionError, ValueError) as error:
        raise wrong(path, line, f"cannot be read as JSON: {error}", None) from error
    return document


def _csv(text: str, path: Path, kind_name: str, kind: Kind) -> object:
    """Its rows below each header, by the names that stand there."""
    form, rows = kind.csv, list(rows_of(text))
    if form.header and not any(row[0].text == form.header for row in rows):
        raise wrong(path, 1, f"has no header of {kind_name}", f"it is made by `{kind.made}`")
    return [*_records(rows, path, form)]


def _records(rows: list[list[Field]], path: Path, form: CsvForm) -> Iterator[Row]:
    keys: list[str] = []
    for number, row in enumerate(rows):
        if (row[0].text == form.header) if form.header else number == 0:
            keys = _keys(row, path, form)
        elif form.until is not None and re.search(form.until, row[0].text):
            keys = []
        elif keys:
            _refuse_torn(row, keys, path)
            yield Row(dict(zip(keys, [each.text for each in row], strict=True)), row[0].line)


def _refuse_torn(row: list[Field], keys: list[str], path: Path) -> None:
    message = f"{len(row)} fields where the header has {len(keys)}"
    if any(field.open_quote for field in row):
        message = "a text in quotes does not end"
    elif len(row) == len(keys):
        return
    raise wrong(path, row[0].line, message, "was it cut? give the whole file")


def _keys(row: list[Field], path: Path, form: CsvForm) -> list[str]:
    keys = [re.sub(form.strips, "", field.text) for field in row]
    twice = next((key for at, key in enumerate(keys) if key in keys[:at]), None)
    if twice is not None:
        raise wrong(path, row[0].line, f"has two columns `{twice}`", "name each once")
    return keys


def _xml(text: str, path: Path, kind_name: str, _kind: Kind) -> object:
    """Children by tag, always in a list; attributes as `@name`; the text of what has neither."""
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise wrong(
            path, 1, "declares entities, which are not read", "give it as the tool wrote it"
        )
    try:
        return _element(ET.fromstring(text))  # noqa: S314 - without declarations of entities
    except ET.ParseError as error:
        line, column = error.position
        message = f"is no XML, as files of {kind_name} are: {error}"
        raise wrong(path, max(line, 1), message, _CUT, column + 1) from error
    except (RecursionError, ValueError) as error:
        raise wrong(path, 1, f"cannot be read as XML: {error}", None) from error


def _element(element: ET.Element) -> object:
    found: dict[str, object] = {f"@{name}": value for name, value in element.attrib.items()}
    children: dict[str, list[object]] = {}
    for child in element:
        children.setdefault(child.tag, []).append(_element(child))
    return {**found, **children} if found or children else (element.text or "").strip()


_READERS: dict[str, Callable[[str, Path, str, Kind], object]] = {
    "json": _json,
    "ndjson": _ndjson,
    "csv": _csv,
    "xml": _xml,
}
