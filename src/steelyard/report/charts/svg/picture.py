"""A whole chart: its layers on common axes, as large as what they reach to."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from steelyard.report.charts.svg.axis import Axis
from steelyard.report.charts.svg.legend import GAP_PX, legend
from steelyard.report.charts.svg.mark import Layer, Plot
from steelyard.report.charts.svg.markup import Box, around, tag
from steelyard.report.charts.svg.scale import scale_of
from steelyard.report.charts.vega import Spec

LEFT_PX, TOP_PX, RIGHT_PX, BOTTOM_PX = 14, 6, 6, 4  # room for a wider font


@dataclass(frozen=True)
class Picture:
    """Markup of a size; ``begin_px`` is where the plot begins in it."""

    body: str
    width_px: int
    height_px: int
    begin_px: int


def picture(chart: Spec, name: str) -> Picture:
    """Draw a document; identifiers in it begin with ``name``."""
    width_px, height_px = chart["width"], chart["height"]
    layers: list[Spec] = chart["layer"]
    x, y = _axis(layers, "x", width_px, height_px), _axis(layers, "y", width_px, height_px)
    plot = Plot(x.scale if x else None, y.scale if y else None, width_px, height_px)
    axes = [axis for axis in (x, y) if axis is not None]
    sides = [axis.painted() for axis in axes]
    marks, boxes = _marks([Layer(spec, plot) for spec in layers], name)
    plotted = around([Box(0, 0, width_px, height_px), *boxes, *chain(*(s.boxes for s in sides))])
    below = legend(layers, math.ceil(plotted.bottom) + GAP_PX)
    whole = around([plotted, *below.boxes])
    left, top = math.ceil(-whole.left) + LEFT_PX, math.ceil(-whole.top) + TOP_PX
    grids = "".join(axis.grid() for axis in axes)
    drawn = grids + "".join(side.markup for side in sides) + marks + below.markup
    body = tag("g", {"fill": "none", "transform": f"translate({left},{top})"}, drawn)
    return Picture(
        _plot_area(name, width_px, height_px) * ("clip-path" in marks) + body,
        left + math.ceil(whole.right) + RIGHT_PX,
        top + math.ceil(whole.bottom) + BOTTOM_PX,
        left,
    )


def _axis(layers: Sequence[Spec], name: str, width_px: float, height_px: float) -> Axis | None:
    """That of a side, as the layers have it in common; ``None`` where no field stands along it."""
    channels = [
        channel for spec in layers if "field" in (channel := spec["encoding"].get(name, {}))
    ]
    if not channels:
        return None
    begin_px, end_px = (0.0, width_px) if name == "x" else (height_px, 0.0)
    scale = scale_of(channels, list(_values(layers, name)), begin_px, end_px)
    asked: Spec = next((channel["axis"] for channel in channels if "axis" in channel), {})
    return Axis(asked, scale, width_px, height_px, down=name == "y")


def _values(layers: Sequence[Spec], name: str) -> list[Any]:
    found = []
    for spec in layers:
        fields = [spec["encoding"].get(end, {}).get("field") for end in (name, f"{name}2")]
        found += [row[f] for row in spec["data"]["values"] for f in fields if f is not None]
    return found


def _marks(layers: Sequence[Layer], name: str) -> tuple[str, list[Box]]:
    """All layers, one upon the other, and what they cover that is not cut off."""
    markup = ""
    boxes: list[Box] = []
    for layer in layers:
        painted = layer.painted()
        if layer.style.get("clip"):
            markup += tag("g", {"clip-path": f"url(#{name}-plot)"}, painted.markup)
        else:
            markup += tag("g", {}, painted.markup)
            boxes += painted.boxes
    return markup, boxes


def _plot_area(name: str, width_px: float, height_px: float) -> str:
    inside = tag("rect", {"width": width_px, "height": height_px})
    return tag("clipPath", {"id": f"{name}-plot"}, inside)
