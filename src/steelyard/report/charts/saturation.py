"""Throughput over the load: each trial a dot, a curve where it is not refused, its peak a bar."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from steelyard.judge.analyses.scaling.findings import ScalingFinding
from steelyard.judge.visits.attempts import key_of
from steelyard.report.charts.axes import labels_at, level_axis
from steelyard.report.charts.colours import system_colours, system_shapes
from steelyard.report.charts.drawing import Drawing, Figures, draw
from steelyard.report.charts.vega import Spec, axis_over, layered, marks, scaled
from steelyard.report.figures import Scale, scale_for
from steelyard.report.sentences.saturation import saturation_lines
from steelyard.report.view import View
from steelyard.report.vocabulary import response_of

WIDE_PX, NARROW_PX, HEIGHT_PX = 600, 270, 240
_WIDE = 8


def saturation_drawings(view: View) -> Iterator[Drawing]:
    """One chart for each further condition, all systems in it, for wide and for narrow pages."""
    groups: dict[str, list[ScalingFinding]] = {}
    for found in view.own.scaling:
        if found.levels:
            groups.setdefault(view.run.labels.conditions(found.conditions), []).append(found)
    for number, (where, curves) in enumerate(groups.items()):
        response = response_of(view, curves[0].response)
        values = [level.throughput for curve in curves for level in curve.levels]
        scale = scale_for(values, response.unit)
        title = f"{response.label}, {scale.unit}" + (f", at {where}" if where else "")
        words = " ".join(saturation_lines(view.with_own(scaling=tuple(curves))))
        figures = _figures(view, curves)
        for size, width in (("wide", WIDE_PX), ("narrow", NARROW_PX)):
            name = f"saturation-{number}-{size}"
            yield draw(_chart(view, curves, scale, width), name, title, words, figures)


def _figures(view: View, curves: Sequence[ScalingFinding]) -> Figures:
    """Of each level its throughput, and the fitted curve where it is drawn."""
    unit = response_of(view, curves[0].response).unit
    head = ("system", curves[0].factor, "what", f"throughput, {unit}")
    levels = [(c.system, e.level, "measured", e.throughput) for c in curves for e in c.levels]
    fitted = [(c.system, at, "fitted", high) for c in curves for at, high in c.drawn]
    return Figures(head, (*levels, *fitted))


def _chart(view: View, curves: Sequence[ScalingFinding], scale: Scale, width_px: int) -> Spec:
    x, place = _x(curves)
    dots = list(_dots(view, curves, scale, place))
    y = axis_over(0, 1.08 * max(row["y"] for row in dots), title=f"throughput, {scale.unit}",
                  domain=False, ticks=False, tickCount=5, format=",~r")  # fmt: skip
    lines = [
        {"system": c.system, "x": place(at), "y": high / scale.divisor}
        for c in curves
        for at, high in c.drawn
    ]
    peaks = list(_peaks(curves, scale, place))
    base = {
        "x": scaled("x", x),
        "y": scaled("y", y),
        "color": system_colours(view.run.systems),
    }
    shaped = {**base, "shape": system_shapes(view.run.systems)}
    layers = [
        marks("rule", peaks, {**base, "x2": "x2"}, strokeWidth=4, opacity=1, strokeCap="round"),
        marks("line", lines, base, strokeWidth=2),
        marks("point", dots, shaped, size=20, opacity=1, strokeWidth=1, filled=False),
    ]
    return layered(layers, width_px, HEIGHT_PX)


def _x(curves: Sequence[ScalingFinding]) -> tuple[Spec, Any]:
    levels = sorted({level.level for curve in curves for level in curve.levels})
    wide = levels[-1] / levels[0] >= _WIDE
    place = math.log2 if wide else float
    ticks = [(place(level), f"{level:g}") for level in levels]
    pad = 0.04 * (ticks[-1][0] - ticks[0][0] or 1.0)
    title = level_axis(curves[0].factor, wide=wide)
    x = axis_over(ticks[0][0] - pad, ticks[-1][0] + pad, **labels_at(ticks), title=title,
                  grid=False)  # fmt: skip
    return {**x, "scale": {**x["scale"], "clamp": True}}, place


def _dots(
    view: View, curves: Sequence[ScalingFinding], scale: Scale, place: Any
) -> Iterator[dict[str, Any]]:
    """Every trial that counts, also at levels that the curve leaves out."""
    drawn = {(curve.system, key_of(curve.conditions)): curve for curve in curves}
    for cell in view.own.cells:
        rest = {k: v for k, v in cell.cell.conditions.items() if k != curves[0].factor}
        curve = drawn.get((cell.cell.system, key_of(rest)))
        at = cell.cell.conditions.get(curves[0].factor)
        if curve is None or cell.response != curve.response or not isinstance(at, int | float):
            continue
        for value in cell.values:
            yield {"system": curve.system, "x": place(at), "y": value / scale.divisor}


def _peaks(curves: Sequence[ScalingFinding], scale: Scale, place: Any) -> Iterator[dict[str, Any]]:
    """The interval of each stated peak, as a bar at its height."""
    for curve in curves:
        peak = curve.peak
        if curve.peak_stated and peak is not None and peak.at_high is not None:
            yield {
                "system": curve.system,
                "x": place(peak.at_low),
                "x2": place(peak.at_high),
                "y": (peak.throughput or 0.0) / scale.divisor,
            }
