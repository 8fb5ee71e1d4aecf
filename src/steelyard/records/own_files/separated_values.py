"""Text with separators, as RFC 4180 has it: rows of fields, each with the place where it begins.

Separators are commas, semicolons or tabs, whichever stands in the first row. A field in quotes may
hold separators, line breaks and doubled quotes; blanks around fields do not count.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_SEPARATORS = ",;\t"


class Field(NamedTuple):
    """One field as written, and the place of its first character, from 1.

    ``open_quote``: it begins with a quote that does not end it, which stands in ``text``.
    """

    text: str
    line: int
    column: int
    open_quote: bool = False


def rows_of(text: str) -> Iterator[list[Field]]:
    """Rows that are not blank; ``text`` breaks lines with line feeds alone."""
    row: list[Field] = []
    line, line_start = 1, 0
    for found in _pattern(_separator(text)).finditer(text):
        quoted, plain = found["quoted"], found["plain"]
        content = plain.strip() if quoted is None else quoted.replace('""', '"')
        column = found.start("field") - line_start + 1
        row.append(Field(content, line, column, quoted is None and content.startswith('"')))
        if breaks := found.group().count("\n"):
            line += breaks
            line_start = text.rindex("\n", 0, found.end()) + 1
        if found["end"] in ("\n", ""):
            if len(row) > 1 or row[0].text:
                yield row
            row = []


def _separator(text: str) -> str:
    first = next((line for line in text.split("\n") if line.strip()), "")
    return next((each for each in _SEPARATORS if each in first), ",")


def _pattern(separator: str) -> re.Pattern[str]:
    """One field with the separator, line break or end of the text behind it."""
    blank = " " if separator == "\t" else "[ \t]"
    quoted = '"(?P<quoted>[^"]*(?:""[^"]*)*)"'
    plain = f"(?P<plain>[^{separator}\n]*)"
    end = rf"(?P<end>{separator}|\n|\Z)"
    return re.compile(f"{blank}*(?P<field>{quoted}{blank}*(?={separator}|\n|\\Z)|{plain}){end}")
