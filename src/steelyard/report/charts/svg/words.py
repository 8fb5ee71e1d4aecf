"""Texts of a drawing: how wide they are, where they reach to, and their markup."""

from __future__ import annotations

import html
import math
import unicodedata
from dataclasses import dataclass

from steelyard.report.charts.svg.markup import Box, number, tag

_WIDTHS = {
    191: "'", 222: "ijl", 260: "|", 278: " !,./:;I[\\]ft·", 333: "()-`r", 334: "{}", 355: '"',
    389: "*", 469: "^", 500: "Jckvsxyz", 549: "±", 556: "#$0123456789?L_abdeghnopqu–", 576: "µ",
    584: "+<=>~−×", 611: "FTZ", 667: "&ABEKPSVXY", 722: "CDHNRUw", 778: "GOQ", 833: "Mm",
    889: "%", 944: "W", 1000: "←→…—", 1015: "@",
}  # fmt: skip
"""Thousandths of the size, by letter: those of Arial, and of what is made to its measures."""
_WIDTH = {letter: width for width, letters in _WIDTHS.items() for letter in letters}
_OTHER, _IDEOGRAPH = 600, 1000

DROPS = {"top": 0.79, "middle": 0.3, "bottom": -0.21, "alphabetic": 0.0}
"""How far below its place the baseline of a text is, in sizes."""
ABOVE = 0.8
"""How far a text reaches above its baseline, in sizes; it is one size high."""


def width_px(text: str, size_px: float) -> float:
    """Of one line."""
    return sum(map(_letter, text)) * size_px / 1000


def _letter(letter: str) -> int:
    known = _WIDTH.get(letter)
    if known is None and unicodedata.east_asian_width(letter) in "WF":
        return _IDEOGRAPH
    bare = unicodedata.normalize("NFD", letter)[0]
    return _WIDTH.get(bare, _OTHER) if known is None else known


def cut(text: str, size_px: float, limit_px: float) -> str:
    """The text, or what of it fits before three dots; 0 is no limit."""
    if not limit_px or width_px(text, size_px) <= limit_px:
        return text
    room = limit_px - width_px("…", size_px)
    while text and width_px(text, size_px) > room:
        text = text[:-1]
    return text + "…"


@dataclass(frozen=True)
class Text:
    """Lines at a place, the baseline of the first; ``angle`` turns them round it."""

    x: float
    y: float
    lines: tuple[str, ...]
    size_px: float = 11
    colour: str = ""
    align: str = "left"
    angle: float = 0
    drop_px: float = 0
    """From the place to the baseline, after it is turned."""
    line_px: float = 13
    style: str | None = None

    @property
    def width_px(self) -> float:
        return max(width_px(line, self.size_px) for line in self.lines)

    def box(self) -> Box:
        """What it covers; turned, the upright box around that."""
        left = {"left": 0.0, "center": 0.5, "right": 1.0}[self.align] * -self.width_px
        top = self.drop_px - round(ABOVE * self.size_px)
        bottom = top + self.size_px + self.line_px * (len(self.lines) - 1)
        turn = math.radians(self.angle)
        sin, cos = math.sin(turn), math.cos(turn)
        corners = [(x, y) for x in (left, left + self.width_px) for y in (top, bottom)]
        across = [self.x + x * cos - y * sin for x, y in corners]
        down = [self.y + x * sin + y * cos for x, y in corners]
        return Box(min(across), min(down), max(across), max(down))

    def markup(self) -> str:
        anchor = {"left": None, "center": "middle", "right": "end"}[self.align]
        if self.angle:
            turned = f"translate({number(self.x)},{number(self.y)}) rotate({number(self.angle)})"
            place = {"transform": turned, "y": self.drop_px or None}
        else:
            place = {"x": self.x, "y": self.y + self.drop_px}
        shown = {"text-anchor": anchor, "font-size": f"{number(self.size_px)}px",
                 "font-style": self.style, "fill": self.colour}  # fmt: skip
        return tag("text", {**place, **shown}, self._lines())

    def _lines(self) -> str:
        if len(self.lines) == 1:
            return html.escape(self.lines[0], quote=False)
        x = 0 if self.angle else self.x
        later = {"x": x, "dy": self.line_px}
        return "".join(
            tag("tspan", later if place else {"x": x}, html.escape(line, quote=False))
            for place, line in enumerate(self.lines)
        )
