"""Finds texts in what a tool printed: by a path, by a pattern, in a table. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from steelyard.study.declared.json_path import as_text, values_at
from steelyard.study.workload.metric import Look, Table
from steelyard.study.workload.output_checks import UNIT, VALUE

_SHOWN = 80


class NotThereError(Exception):
    """What was looked for is not in the output; the message says what is there instead.

    ``text`` is what was found where a number was expected. ``remedy`` says what to do, unless the
    output was cut or is of another version.
    """

    def __init__(self, message: str, *, text: str | None = None, remedy: str | None = None) -> None:
        super().__init__(message)
        self.text = text
        self.remedy = remedy

    def at(self, name: str) -> NotThereError:
        """The same, behind the name of what it was looked for in."""
        return NotThereError(f"{name}: {self}", text=self.text, remedy=self.remedy)


@dataclass(frozen=True)
class Found:
    """A text of the output, and the unit that stands with it if the pattern names one."""

    text: str
    unit: str | None = None


@dataclass(frozen=True)
class Printed:
    """What a tool wrote, by source; ``fill`` fills the placeholders of paths, rows and counts.

    ``unread`` are sources that cannot be used, with the error; ``None`` where one is too long.
    """

    texts: Mapping[str, str]
    tables: Mapping[str, Table]
    fill: Callable[[str], str]
    unread: Mapping[str, str | None] = field(default_factory=dict)
    documents: dict[str, object] = field(default_factory=dict)
    """Those of JSON, parsed once each, by source."""
    is_file: bool = False
    """It is an imported file, which goes without the name of a source."""

    def found(self, look: Look) -> list[Found]:
        """Every text at this place, one at least unless they are counted.

        Raises:
            NotThereError: there is none.
        """
        if look.json_paths:
            found = [Found(text) for path in look.json_paths for text in self._at(look, path)]
        elif look.pattern is not None:
            found = list(_matches(look.pattern, look.source, self._lines(look.source)))
        else:
            found = [Found(text) for text in self._cells(look)]
        if not found and look.take != "count":
            raise NotThereError(f"nothing at `{', '.join(look.json_paths)}`{self._of(look)}")
        wanted = None if look.times is None else self.fill(look.times)
        if wanted not in (None, str(len(found))):
            raise NotThereError(f"{len(found)} of them, where {wanted} are expected")
        return found

    def _of(self, look: Look) -> str:
        return "" if self.is_file else f" of `{look.source}`"

    def _why_not(self, source: str) -> str:
        if source not in self.unread:
            return f"there is no `{source}`"
        error = self.unread[source]
        return (
            f"`{source}` is longer than what is kept of it"
            if error is None
            else f"no `{source}`: {error}"
        )

    def _text(self, source: str) -> str:
        if source in self.unread or source not in self.texts:
            raise NotThereError(self._why_not(source))
        return self.texts[source]

    def _lines(self, source: str) -> str:
        """Its lines; a last one without its end may have been cut, and is not read."""
        text = self._text(source)
        return text[: text.rfind("\n") + 1]

    def _at(self, look: Look, path: str) -> Iterator[str]:
        if look.source not in self.documents:
            self.documents[look.source] = _document(look.source, self._text(look.source))
        wanted = self.fill(path)
        try:
            values = values_at(self.documents[look.source], wanted)
        except LookupError as error:
            message = f"nothing at `{wanted}`{self._of(look)}: there is no `{error}`"
            raise NotThereError(message) from error
        yield from (as_text(value) for value in values)

    def _cells(self, look: Look) -> Iterator[str]:
        table = self.tables[look.table or ""]
        wanted = look.row if isinstance(look.row, dict) else {}
        if isinstance(look.row, str):
            wanted = {table.columns[0]: look.row}
        filled = {column: self.fill(text) for column, text in wanted.items()}
        rows = list(_rows(table, self._lines(table.source), look.table or ""))
        chosen = [row for row in rows if all(row[c] == text for c, text in filled.items())]
        if not chosen:
            row = " and ".join(f"{column} {text}" for column, text in filled.items())
            raise NotThereError(f"no row {row} in the table `{look.table}`".replace("  ", " "))
        yield from (row[look.column or ""] for row in chosen)


def _document(source: str, text: str) -> object:
    try:
        document: object = json.loads(text)
    except ValueError as error:
        raise NotThereError(f"`{source}` is no JSON: {error}; was it cut short?") from error
    except RecursionError as error:
        raise NotThereError(f"`{source}` is JSON that is nested too deeply") from error
    return document


def _matches(pattern: str, source: str, text: str) -> Iterator[Found]:
    compiled = re.compile(pattern, re.MULTILINE)
    named = VALUE in compiled.groupindex
    found = False
    for match in compiled.finditer(text):
        found = True
        value = match[VALUE] if named else match[1] if compiled.groups else match[0]
        yield Found((value or "").strip(), match.groupdict().get(UNIT))
    if not found:
        raise NotThereError(f"nothing like `{pattern}` in `{source}`")


def _rows(table: Table, text: str, name: str) -> Iterator[dict[str, str]]:
    lines = iter(text.splitlines())
    if table.header is not None:
        header = re.compile(table.header)
        if not any(header.search(line) for line in lines):
            raise NotThereError(f"the table `{name}` does not begin: no `{table.header}`")
    begun = False
    for line in lines:
        if not line.strip():
            if begun:
                return
            continue
        begun = True
        cells = [cell.strip() for cell in line.split(table.separator)]
        if len(cells) != len(table.columns):
            shown = line.strip()[:_SHOWN]
            message = f"{len(cells)} cells where the table `{name}` has {len(table.columns)}"
            raise NotThereError(f"{message}: `{shown}`")
        yield dict(zip(table.columns, cells, strict=True))
    if not begun:
        raise NotThereError(f"the table `{name}` has no rows")
