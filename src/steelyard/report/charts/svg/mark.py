"""Marks of one layer: what each row is drawn as, in the colour, shape and size of its channels."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from steelyard.report.charts.colours import INK
from steelyard.report.charts.svg.markup import Box, Painted, number, tag, together
from steelyard.report.charts.svg.scale import Rows, Scale
from steelyard.report.charts.svg.symbol import symbol
from steelyard.report.charts.svg.words import DROPS, Text, cut
from steelyard.report.charts.vega import Spec

Row = Mapping[str, Any]
_POINT_AREA, _POINT_STROKE_PX = 30, 2
_TEXT_PX = 11


@dataclass(frozen=True)
class Plot:
    """Where the marks of all layers stand."""

    x: Scale | Rows | None
    y: Scale | Rows | None
    width_px: float
    height_px: float


@dataclass(frozen=True)
class Layer:
    """One layer of a document on its plot."""

    spec: Spec
    plot: Plot

    @property
    def rows(self) -> list[Row]:
        return list(self.spec["data"]["values"])

    @property
    def style(self) -> Spec:
        found: Spec = self.spec["mark"]
        return found

    def painted(self) -> Painted:
        """All marks of it, and what they cover; of lines and areas the plot itself is enough."""
        through = _THROUGH_ROWS.get(self.style["type"])
        if through is not None:
            return Painted("".join(through(self, rows) for rows in self.groups()))
        of_a_row = _OF_A_ROW[self.style["type"]]
        return together(of_a_row(self, row) for row in self.rows)

    def shown(self, name: str, row: Row, otherwise: Any = None) -> Any:
        """What a channel that is no place shows of a row, else what the style says."""
        channel = self.spec["encoding"].get(name)
        if channel is None:
            return self.style.get(name, otherwise)
        condition = channel.get("condition")
        if condition is not None and row[condition["test"]]:
            channel = condition
        return _value(channel, row)

    def across(self, row: Row, name: str = "x") -> float | None:
        """The place of a row along the width; ``None`` where the layer has none."""
        return self._place(self.plot.x, row, name)

    def down(self, row: Row, name: str = "y") -> float | None:
        """The place of a row along the height."""
        return self._place(self.plot.y, row, name)

    def _place(self, scale: Scale | Rows | None, row: Row, name: str) -> float | None:
        channel = self.spec["encoding"].get(name)
        if channel is None:
            return None
        if "value" in channel:
            return float(channel["value"])
        value = row[channel["field"]]
        return None if scale is None or value is None else scale.at(value)

    def groups(self) -> Iterator[list[Row]]:
        """The rows of each colour, in their order along the line."""
        colour = self.spec["encoding"].get("color", {}).get("field")
        order = self.spec["encoding"].get("order", self.spec["encoding"]["x"])["field"]
        groups: dict[Any, list[Row]] = {}
        for row in self.rows:
            groups.setdefault(row[colour] if colour else None, []).append(row)
        for rows in groups.values():
            yield sorted(rows, key=lambda row: row[order])


def _value(channel: Spec, row: Row) -> Any:
    if "value" in channel:
        return channel["value"]
    value = row[channel["field"]]
    scale = channel.get("scale")
    if scale is None:
        return value
    return dict(zip(scale["domain"], scale["range"], strict=False)).get(value, scale["range"][0])


def _stroke(layer: Layer, row: Row) -> dict[str, Any]:
    dashes = layer.style.get("strokeDash")
    width_px = layer.shown("strokeWidth", row, 1)
    return {
        "stroke": layer.shown("color", row),
        "stroke-width": None if width_px == 1 else width_px,
        "stroke-dasharray": ",".join(map(number, dashes)) if dashes else None,
        "stroke-linecap": layer.style.get("strokeCap"),
        "opacity": _opacity(layer),
    }


def _opacity(layer: Layer) -> float | None:
    opacity = layer.style.get("opacity", 1)
    return None if opacity == 1 else float(opacity)


def _point(layer: Layer, row: Row) -> Painted:
    x, y = layer.across(row), layer.down(row)
    if x is None or y is None:
        return Painted("")
    area, width_px = (
        layer.shown("size", row, _POINT_AREA),
        layer.style.get("strokeWidth", _POINT_STROKE_PX),
    )
    colour, filled = layer.shown("color", row), layer.style.get("filled", False)
    inside = colour if filled else layer.shown("fill", row, "transparent")
    paint = {"fill": inside, **({} if filled else {"stroke": colour, "stroke-width": width_px})}
    shape = symbol(layer.shown("shape", row, "circle"), area)
    place = f"translate({number(x)},{number(y)})"
    reach = area**0.5 / 2 + (0 if filled else width_px / 2)
    box = Box(x - reach, y - reach, x + reach, y + reach)
    return Painted(
        tag("path", {"transform": place, "d": shape, **paint}, _said(layer, row)), (box,)
    )


def _said(layer: Layer, row: Row) -> str:
    """What a pointer shows of a mark that has a description."""
    words = layer.shown("description", row)
    return "" if words is None else f"<title>{html.escape(words, quote=False)}</title>"


def _rule(layer: Layer, row: Row) -> Painted:
    """From one end to the other; through the whole plot where only its place is given."""
    x, y = layer.across(row), layer.down(row)
    x2, y2 = layer.across(row, "x2"), layer.down(row, "y2")
    if x is None:
        x, x2 = 0.0, layer.plot.width_px
    if y is None:
        y, y2 = 0.0, layer.plot.height_px
    ends = {"x1": x, "y1": y, "x2": x if x2 is None else x2, "y2": y if y2 is None else y2}
    return Painted(tag("line", {**ends, **_stroke(layer, row)}), (Box(*_ordered(*ends.values())),))


def _ordered(x: float, y: float, x2: float, y2: float) -> tuple[float, float, float, float]:
    return min(x, x2), min(y, y2), max(x, x2), max(y, y2)


def _rectangle(layer: Layer, row: Row) -> Painted:
    """Between its two ends; over the whole plot where it has none. A bar lies round its row."""
    x, x2, y, y2 = (
        layer.across(row), layer.across(row, "x2"), layer.down(row), layer.down(row, "y2")
    )  # fmt: skip
    if "height" in layer.style and y is not None:
        y, y2 = y - layer.style["height"] / 2, y + layer.style["height"] / 2
    box = Box(*_ordered(
        x or 0.0, y or 0.0,
        layer.plot.width_px if x2 is None else x2, layer.plot.height_px if y2 is None else y2,
    ))  # fmt: skip
    shape = {"x": box.left, "y": box.top,
             "width": box.right - box.left, "height": box.bottom - box.top}  # fmt: skip
    paint = {"fill": layer.shown("color", row), "fill-opacity": layer.shown("fillOpacity", row),
             "stroke": layer.style.get("stroke"), "opacity": _opacity(layer)}  # fmt: skip
    return Painted(tag("rect", {**shape, **paint}, _said(layer, row)), (box,))


def _line(layer: Layer, rows: list[Row]) -> str:
    return tag("path", {"d": _path(layer, rows, "y"), **_stroke(layer, rows[0])})


def _path(layer: Layer, rows: list[Row], name: str) -> str:
    places = [(layer.across(row), layer.down(row, name)) for row in rows]
    known = [f"{number(x)},{number(y)}" for x, y in places if x is not None and y is not None]
    return "M" + "L".join(known)


def _area(layer: Layer, rows: list[Row]) -> str:
    back = _path(layer, rows[::-1], "y2")
    paint = {"fill": layer.shown("color", rows[0]), "opacity": _opacity(layer)}
    return tag("path", {"d": f"{_path(layer, rows, 'y')}L{back[1:]}Z", **paint})


def _text(layer: Layer, row: Row) -> Painted:
    style = layer.style
    size_px = style.get("fontSize", _TEXT_PX)
    words = cut(layer.shown("text", row), size_px, style.get("limit", 0))
    drop_px = round(DROPS[style.get("baseline", "middle")] * size_px)
    x = layer.across(row)
    y = layer.down(row)
    text = Text(
        (layer.plot.width_px / 2 if x is None else x) + style.get("dx", 0),
        (layer.plot.height_px / 2 if y is None else y) + style.get("dy", 0),
        (words,),
        size_px,
        layer.shown("color", row, INK),
        style.get("align", "center"),
        style.get("angle", 0),
        drop_px,
        style=style.get("fontStyle"),
    )
    return Painted(text.markup(), (text.box(),))


_OF_A_ROW: dict[str, Callable[[Layer, Row], Painted]] = {
    "point": _point,
    "rule": _rule,
    "rect": _rectangle,
    "bar": _rectangle,
    "text": _text,
}
_THROUGH_ROWS: dict[str, Callable[[Layer, list[Row]], str]] = {"line": _line, "area": _area}
