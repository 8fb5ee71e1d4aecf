"""The reference page of imports says what the catalogue holds."""

from __future__ import annotations

from pathlib import Path

import pytest

from steelyard.imports.kind import kind, names

PAGE = (Path(__file__).parents[3] / "docs" / "reference" / "imports.md").read_text("utf-8")


@pytest.mark.parametrize("name", names())
def test_every_kind_has_its_row(name: str) -> None:
    own = kind(name)
    says = "yes" if own.says_version else "no"
    seen = ", ".join(own.seen) or "none"
    row = f"| `{name}` | `{own.made}` | {own.trial} | {seen} | {says} |"
    assert row in PAGE
    assert own.says_version == (own.version is not None)


@pytest.mark.parametrize("name", names())
def test_every_number_has_its_unit(name: str) -> None:
    own = kind(name)
    for metric in own.metrics:
        found = own.response(metric)
        assert f"| `{name}` | `{metric}` | {found.unit} | {found.direction} |" in PAGE
