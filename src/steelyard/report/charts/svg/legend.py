"""What the colours or shapes of a chart stand for, below it, in columns."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from steelyard.report.charts.colours import INK
from steelyard.report.charts.svg.markup import Box, Painted, number, tag, together
from steelyard.report.charts.svg.symbol import symbol
from steelyard.report.charts.svg.words import Text
from steelyard.report.charts.vega import Spec

GAP_PX, ROW_PX, COLUMN_GAP_PX = 18, 16, 11
_TEXT_PX, _SYMBOL_AREA, _MIDDLE_PX = 10, 100, 6
_STROKE_PX = 1.5


@dataclass(frozen=True)
class Entry:
    """One line: its name, and what its symbol looks like."""

    name: str
    shape: str
    fill: str
    stroke: str | None


def entries_of(layers: Sequence[Spec]) -> tuple[Spec, list[Entry]] | None:
    """The legend that the layers ask for, and its entries; colour and shape of a name are one."""
    asked: dict[str, Spec] = {}
    for layer in layers:
        for name in ("color", "shape"):
            channel = layer["encoding"].get(name, {})
            if channel.get("legend"):
                asked[name] = {**channel, "mark": layer["mark"]}
    if not asked:
        return None
    first = next(iter(asked.values()))
    names: list[Any] = first["scale"]["domain"]
    return first["legend"], [_entry(name, place, asked) for place, name in enumerate(names)]


def _entry(name: Any, place: int, asked: dict[str, Spec]) -> Entry:
    def of(channel: str, otherwise: str) -> str:
        found = asked.get(channel)
        shown = otherwise if found is None else found["scale"]["range"][place]
        return str(shown)

    if "color" in asked:
        colour = of("color", "")
        return Entry(str(name), of("shape", "square"), colour, asked["color"]["mark"].get("stroke"))
    stroke = asked["shape"]["legend"].get("symbolStrokeColor")
    return Entry(str(name), of("shape", "circle"), "transparent", stroke)


def legend(layers: Sequence[Spec], top_px: float) -> Painted:
    """The legend from ``top_px`` on; nothing where no layer asks for one."""
    found = entries_of(layers)
    return Painted("") if found is None else together(_lines(*found, top_px))


def _lines(asked: Spec, entries: Sequence[Entry], top_px: float) -> Iterator[Painted]:
    columns = min(asked.get("columns", len(entries)), len(entries))
    size_px = asked.get("labelFontSize", _TEXT_PX)
    texts = [Text(0, 0, (entry.name,), size_px, INK) for entry in entries]
    widths = [
        math.ceil(max(text.width_px for text in texts[c::columns])) + 16 + COLUMN_GAP_PX
        for c in range(columns)
    ]
    for place, (entry, text) in enumerate(zip(entries, texts, strict=True)):
        row, column = divmod(place, columns)
        yield _line(entry, text, sum(widths[:column]), top_px + row * ROW_PX)


def _line(entry: Entry, text: Text, x: float, y: float) -> Painted:
    middle = f"translate({number(x + _MIDDLE_PX)},{number(y + _MIDDLE_PX)})"
    drawn = {"transform": middle, "d": symbol(entry.shape, _SYMBOL_AREA), "fill": entry.fill,
             "stroke": entry.stroke,
             "stroke-width": _STROKE_PX if entry.stroke else None}  # fmt: skip
    label = Text(x + 16, y + 9, text.lines, text.size_px, text.colour)
    box = Box(x, y, label.box().right, y + 13)
    return Painted(tag("path", drawn) + label.markup(), (box,))
