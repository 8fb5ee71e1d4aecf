"""What every table of a report is: text cells, ready for any format."""

from __future__ import annotations

from dataclasses import dataclass

NONE = "–"


@dataclass(frozen=True)
class Table:
    """Text cells under headings; ``numeric`` holds the columns that are set to the right."""

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numeric: frozenset[int] = frozenset()
    notes: tuple[str, ...] = ()
