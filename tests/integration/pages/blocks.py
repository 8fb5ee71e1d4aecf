"""The blocks of a page: fenced ones, and those that are indented by four blanks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

ROOT = Path(__file__).parents[3]
OF_ITS_OWN = {"docs/reference/cli.md"}
"""Pages that are held as a whole: ``tests/golden/test_cli_reference.py``."""
_BLOCK = re.compile(
    r"^```\w*\n(?P<fenced>.*?)^```$"
    r"|(?:(?<=\n)\n|^#[^\n]*\n)(?P<indented>(?: {4}[^\n]*\n|\n(?= {4}))+)",
    re.MULTILINE | re.DOTALL,
)
_TIMES = re.compile(r"\bN (ns|us|ms|s|min)\b")


@dataclass(frozen=True)
class Block:
    """What a page shows, without its fence or indentation."""

    text: str

    @property
    def first_line(self) -> str:
        return self.text.partition("\n")[0]

    @property
    def lines(self) -> list[str]:
        return self.text.splitlines()


def pages() -> list[str]:
    """README.md, the guides and the references."""
    found = [ROOT / "README.md", *(ROOT / "docs" / "guide").glob("*.md")]
    found += (ROOT / "docs" / "reference").glob("*.md")
    return sorted({str(page.relative_to(ROOT)) for page in found} - OF_ITS_OWN)


def blocks_of(page: str) -> Iterator[Block]:
    """In the order of the page."""
    for found in _BLOCK.finditer((ROOT / page).read_text(encoding="utf-8")):
        text = found["fenced"] if found["indented"] is None else dedent(found["indented"])
        yield Block(text.strip("\n") + "\n")


def without_figures(text: str) -> list[str]:
    """Its lines with N for each number and T for each unit of time, and one blank between words."""
    shown = re.sub(r"\d+(?:[.,:]\d+)*", "N", text.strip())
    return [" ".join(_TIMES.sub("N T", line).split()) for line in shown.splitlines()]
