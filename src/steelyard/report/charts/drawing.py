"""From a document of Vega-Lite to inline SVG that fits the page: theme, size, words for the blind.

Colours are CSS variables with a fallback, so that one drawing serves light, dark and print. No
script, no font, no request; identifiers are made unique so that many drawings share one page.
"""

from __future__ import annotations

import csv
import html
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import vl_convert

from steelyard.report.charts.vega import Spec

INK = "var(--ink,#1d2330)"
MUTED = "var(--muted,#5b6472)"
RULE = "var(--rule,#dfe2e8)"
BAND = "var(--band,#e9ecf2)"
PAPER = "var(--paper,#ffffff)"
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', 'DejaVu Sans', sans-serif"

# Okabe and Ito, ordered so that neighbours differ in lightness too; shapes repeat the difference.
SYSTEM_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#aa4499", "#8a6d00", "#4b5a6b")
PART_COLOURS = ("#2f6db3", "#a85b00", "#4d7d1f", "#8a4fa3", "#a33b52", "#6b6200", "#5b6472")
SYSTEM_SHAPES = ("circle", "triangle-up", "square", "diamond", "cross", "triangle-down")

_FONT_OF_ALL = f' font-family="{FONT}"'
_MEASURED_IN = ' font-family="sans-serif"'
"""The renderer's own font: a drawing is the same on every machine, and takes half of the time that
it took to look for the fonts of a page and to measure in them."""
# What the renderer writes on every tag: the font that the drawing has, and what is so without it.
_SAID_ANYWAY = (_MEASURED_IN, ' opacity="1"', ' stroke-width="1"', ' transform="translate(0,0)"')

_MARK = re.compile(r'<(path|line|rect) aria-label="([^"]*)"([^>]*)/>')
"""A mark with a description of its own: no other has one in the theme below."""

VEGA_LITE = "6.4"

_THEME: dict[str, Any] = {
    "aria": False,
    "background": "transparent",
    "padding": {"left": 14, "top": 6, "right": 6, "bottom": 4},  # room for a wider font
    "view": {"stroke": None},
    "text": {"fontSize": 11, "color": INK},
    "axis": {
        "labelColor": MUTED,
        "titleColor": MUTED,
        "gridColor": RULE,
        "domainColor": MUTED,
        "tickColor": MUTED,
        "labelFontSize": 11,
        "titleFontSize": 11,
        "titlePadding": 12,  # beside labels of a wider font
        "titleFontWeight": "normal",
    },
}


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


def colour_of(index: int) -> str:
    """The colour of a system by its place in the study."""
    place = index % len(SYSTEM_COLOURS)
    return f"var(--system-{place},{SYSTEM_COLOURS[place]})"


def system_colours(
    systems: Sequence[str], field: str = "system", legend: Spec | None = None
) -> Spec:
    """A channel of colours: one for each system, the same in every chart of a report."""
    return _named(field, systems, [colour_of(i) for i in range(len(systems))], legend)


def system_shapes(
    systems: Sequence[str], field: str = "system", legend: Spec | None = None
) -> Spec:
    """A channel of shapes, one for each system: colour is never the only difference."""
    shapes = [SYSTEM_SHAPES[i % len(SYSTEM_SHAPES)] for i in range(len(systems))]
    return _named(field, systems, shapes, legend)


def part_colours(names: Sequence[str], field: str, legend: Spec) -> Spec:
    """Colours of things that are no systems, in the same order wherever they are drawn."""
    colours = [
        f"var(--part-{i % len(PART_COLOURS)},{PART_COLOURS[i % len(PART_COLOURS)]})"
        for i in range(len(names))
    ]
    return _named(field, names, colours, legend)


def _named(field: str, names: Sequence[str], shown: list[str], legend: Spec | None) -> Spec:
    scale = {"domain": list(names), "range": shown}
    return {"field": field, "type": "nominal", "scale": scale, "legend": legend}


def draw(
    chart: Spec,
    name: str,
    title: str,
    description: str,
    figures: Figures = NO_FIGURES,
    *,
    across: Across | None = None,
) -> Drawing:
    """Render a chart; ``name`` must be unique in the page and is the prefix of its identifiers.

    What a mark with ``aria=True`` has as its description, a pointer shows.
    """
    svg = vl_convert.vegalite_to_svg({**chart, "config": _THEME}, vl_version=VEGA_LITE)
    whole = _accessible(svg, name, title, description, across)
    return Drawing(name, title, description, whole, figures)


def _accessible(
    svg: str, name: str, title: str, description: str, across: Across | None = None
) -> str:
    """Give the drawing a title and description, unique identifiers and a width that yields."""
    opening = re.search(r'<svg [^>]*?width="([\d.]+)" height="([\d.]+)"[^>]*>', svg)
    if opening is None:
        raise ValueError("the drawing has no size")
    width, height = opening.group(1), opening.group(2)
    body = svg[opening.end() :]
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="drawing" role="img" '
        f'aria-labelledby="{name}-title {name}-words" viewBox="0 0 {width} {height}" '
        f'style="max-width:{width}px"{_FONT_OF_ALL}{_across(body, across)}>'
        f'<title id="{name}-title">{html.escape(title)}</title>'
        f'<desc id="{name}-words">{html.escape(description)}</desc>'
    )
    return head + _own_identifiers(_lean(_MARK.sub(_titled, body)), name)


def _across(body: str, across: Across | None) -> str:
    """Where the plot begins, which only the renderer knows, and what its width stands for."""
    begin = re.search(r'transform="translate\(([\d.]+),', body)
    if across is None or begin is None:
        return ""
    its = f"{begin[1]} {across.width_px:g} {across.low:.6g} {across.high:.6g} {across.column}"
    return f' data-across="{its}"' + (' data-log=""' if across.log else "")


def _titled(mark: re.Match[str]) -> str:
    tag, words, rest = mark.groups()
    return f"<{tag}{rest}><title>{words}</title></{tag}>"


def _lean(body: str) -> str:
    """Leave out of the tags what the renderer adds and no one sees; text stays as it is."""
    body = re.sub(r"<[^>]+>", lambda tag: _lean_tag(tag.group()), body)
    return re.sub(r'<path d="M0,0h0v0h0Z"/>|<path d="" display="none"/>|<g></g>|<g/>', "", body)


def _lean_tag(tag: str) -> str:
    tag = re.sub(r' (?:aria-[a-z]+|role|pointer-events|class)="[^"]*"', "", tag)
    for said in _SAID_ANYWAY:
        tag = tag.replace(said, "")
    return re.sub(r"(\d\.\d{2})\d+", r"\1", tag)


def _own_identifiers(body: str, name: str) -> str:
    """Identifiers that no other drawing has, and that are the same whatever was drawn before.

    The renderer counts on from drawing to drawing, so they are numbered anew in each.
    """
    numbers: dict[str, int] = {}

    def named(identifier: str) -> str:
        return f"{name}-{numbers.setdefault(identifier, len(numbers))}"

    def own(tag: re.Match[str]) -> str:
        text = re.sub(r'\bid="([^"]+)"', lambda found: f'id="{named(found[1])}"', tag.group())
        return re.sub(r"url\(#([^)]+)\)", lambda found: f"url(#{named(found[1])})", text)

    return re.sub(r"<[^>]+>", own, body)
