"""The support table of docs/reference/platforms.md is what the catalogue says."""

from __future__ import annotations

import os
from pathlib import Path

from steelyard.study.reference import COLUMNS, support_rows

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "platforms.md"
HEADING = "## What is supported\n\nThis is what `steelyard platform list` says.\n\n"


def table() -> str:
    lines = [f"| {' | '.join(row)} |" for row in [COLUMNS, *support_rows()]]
    lines.insert(1, "|" + "---|" * len(COLUMNS))
    return "\n".join(lines) + "\n"


def test_the_table_of_platforms_is_what_the_catalogue_says() -> None:
    page = PAGE.read_text(encoding="utf-8")
    if os.environ.get("STEELYARD_ACCEPT"):
        page = page[: page.index(HEADING)] + HEADING + table()
        PAGE.write_text(page, encoding="utf-8")
    assert page.endswith(HEADING + table())
