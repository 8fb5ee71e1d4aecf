r"""Macros of numbers: the text of an article holds none itself, so that a new run needs a new
``numbers.tex`` alone, and an author's own words can use the same figures.

Names hold letters only, as TeX asks: ``\syAnswerAnC`` is the third number of the first sentence of
the answer, ``\syThroughputDurableOverallChange`` the change of throughput of *durable* over all.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from steelyard.report.formats.latex.text import characters, escaped, typeset

PREFIX = "sy"
_NUMBER = r"(?P<number>(?<!\w)(?<!\w[.\-])[+−]?\d+(?:,\d{3})*(?:\.\d+)?(?![.\-]?\w))"
"""Not a part of a name, a version, a date or a hash."""
_BESIDE = 24
_DIGITS = ("Zero", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine")


class Numbers:
    """The macros of one article, each defined once, in the order of their use.

    ``names`` are those of systems: digits in them are no numbers.
    """

    def __init__(self, names: Collection[str] = ()) -> None:
        kept = sorted((n for n in map(typeset, names) if not n.isdigit()), key=len, reverse=True)
        self._tokens = re.compile("|".join([*map(re.escape, kept), _NUMBER]))
        self._macros: dict[str, tuple[str, str]] = {}
        self._sentences: dict[str, int] = {}

    def in_text(self, text: str, part: str) -> str:
        """One sentence of a part of the article, with a macro in place of each number."""
        sentence = self._sentences.get(part, 0)
        self._sentences[part] = sentence + 1
        return "".join(self._set(typeset(text), f"{part}{letters(sentence)}n"))

    def define(self, name: str, value: str, meaning: str) -> str:
        """A macro for one value; its name, with a letter more where the name is taken."""
        while name in self._macros:
            name += "x"
        self._macros[name] = (escaped(value), characters(typeset(meaning)))
        return name

    def file(self) -> str:
        """``numbers.tex``: a definition and its meaning on each line."""
        lines = [
            rf"\newcommand{{\{PREFIX}{name}}}{{{value}}} % {meaning}"
            for name, (value, meaning) in self._macros.items()
        ]
        return "\n".join(lines) + "\n"

    def _set(self, text: str, name: str) -> Iterator[str]:
        end = 0
        found_numbers = (f for f in self._tokens.finditer(text) if f["number"])
        for index, found in enumerate(found_numbers):
            yield characters(text[end : found.start()])
            macro = self.define(name + letters(index), found.group(), _around(text, found))
            yield rf"\{PREFIX}{macro}{{}}"
            end = found.end()
        yield characters(text[end:])


def _around(text: str, found: re.Match[str]) -> str:
    """A number with the words beside it."""
    before, after = text[: found.start()], text[found.end() :]
    return f"{before[-_BESIDE:]}{found.group()}{after[:_BESIDE]}".strip()


def letters(index: int) -> str:
    """A number in letters, as columns of a spreadsheet: A, B, ... Z, AA."""
    text = ""
    while index >= 0:
        text = chr(ord("A") + index % 26) + text
        index = index // 26 - 1
    return text


def named(*words: str) -> str:
    """Words as one name of letters: ``response.p99`` is ``ResponsePNineNine``."""
    parts = re.findall(r"[A-Za-z]+|\d", " ".join(words))
    return "".join(_DIGITS[int(p)] if p.isdigit() else p[0].upper() + p[1:] for p in parts)
