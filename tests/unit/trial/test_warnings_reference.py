"""Every warning that a trial can carry is explained."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "reference" / "warnings.md"


def test_every_kind_of_warning_has_its_row_and_every_row_its_kind() -> None:
    sources = "\n".join(p.read_text("utf-8") for p in (ROOT / "src/steelyard/trial").rglob("*.py"))
    made = re.findall(
        r'(?:kind="|doubt\(\s*"|kind = ")([a-z_]+)"(?: if guest else "([a-z_]+)")?', sources
    )
    assert {kind for pair in made for kind in pair if kind} == set(
        re.findall(r"^\| `(\w+)` \|", PAGE.read_text("utf-8"), re.MULTILINE)
    )
