"""From a document of a chart to inline SVG that fits the page: font, size, words for the blind.

Colours are CSS variables with a fallback, so that one drawing serves light, dark and print. No
script, no font, no request; identifiers are unique so that many drawings share one page.
"""

from __future__ import annotations

import csv
import html
import io
import re
from dataclasses import dataclass, replace

from steelyard.report.charts.svg.picture import Picture, picture
from steelyard.report.charts.vega import Spec

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', 'DejaVu Sans', sans-serif"


@dataclass(frozen=True)
class Figures:
    """What a picture is drawn from, unrounded and with units in the heads, for other programs."""

    head: tuple[str, ...] = ()
    rows: tuple[tuple[str | float | None, ...], ...] = ()

    def csv(self) -> str:
        """As comma-separated values; a text that a spreadsheet takes for a formula is quoted."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerows([self.head, *(map(_cell, row) for row in self.rows)])
        return out.getvalue()


def _cell(value: str | float | None) -> str:
    if isinstance(value, str):
        return f"'{value}" if value.startswith(("=", "+", "-", "@", "\t", "\r")) else value
    return "" if value is None else f"{value!r}"


NO_FIGURES = Figures()


@dataclass(frozen=True)
class Across:
    """What the width of a chart of lines stands for, so that a script can read its figures there.

    From ``low`` to ``high`` over ``width_px``, of the column of the figures with that number;
    decimal logarithms of it where ``log``.
    """

    width_px: float
    low: float
    high: float
    column: int
    log: bool = False


@dataclass(frozen=True)
class Drawing:
    """One picture with its words; ``svg`` is inline markup that holds them too."""

    name: str
    title: str
    description: str
    svg: str
    figures: Figures = NO_FIGURES

    def renamed(self, prefix: str) -> Drawing:
        """The same beside others of its name: its identifiers begin with ``prefix``."""
        own = re.compile(rf'(?<=["# ]){re.escape(self.name)}-')
        name = prefix + self.name
        svg = re.sub(r"<[^>]+>", lambda tag: own.sub(f"{name}-", tag.group()), self.svg)
        return replace(self, name=name, svg=svg)


def draw(
    chart: Spec,
    name: str,
    title: str,
    description: str,
    figures: Figures = NO_FIGURES,
    *,
    across: Across | None = None,
) -> Drawing:
    """Draw a chart; ``name`` must be unique in the page and is the prefix of its identifiers.

    What a mark has as its description, a pointer shows.
    """
    drawn = picture(chart, name)
    svg = _opening(drawn, name, title, description, across) + drawn.body + "</svg>"
    return Drawing(name, title, description, svg, figures)


def _opening(drawn: Picture, name: str, title: str, description: str, across: Across | None) -> str:
    """The tag of the whole, with a width that yields, and its title and description."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="drawing" role="img" '
        f'aria-labelledby="{name}-title {name}-words" '
        f'viewBox="0 0 {drawn.width_px} {drawn.height_px}" '
        f'style="max-width:{drawn.width_px}px" font-family="{FONT}"{_across(drawn, across)}>'
        f'<title id="{name}-title">{html.escape(title)}</title>'
        f'<desc id="{name}-words">{html.escape(description)}</desc>'
    )


def _across(drawn: Picture, across: Across | None) -> str:
    """Where the plot begins, and what its width stands for."""
    if across is None:
        return ""
    its = f"{drawn.begin_px} {across.width_px:g} {across.low:.6g} {across.high:.6g} {across.column}"
    return f' data-across="{its}"' + (' data-log=""' if across.log else "")
