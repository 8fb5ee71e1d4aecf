"""Response time over throughput: one path a system through the levels of the load."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from steelyard.judge.analyses.latency.findings import LatencyFinding
from steelyard.report.charts.axes import is_numeric, value_scale
from steelyard.report.charts.colours import system_colours, system_shapes
from steelyard.report.charts.drawing import Drawing, Figures, draw
from steelyard.report.charts.time_axes import time_channel
from steelyard.report.charts.vega import Spec, layered, marks, scaled
from steelyard.report.figures import Scale, quantity, scale_for
from steelyard.report.view import View
from steelyard.report.vocabulary import response_of

WIDTH_PX, HEIGHT_PX = 300, 190
SIDES: tuple[dict[str, Any], ...] = (
    {"align": "left", "dx": 7, "dy": -6},
    {"align": "left", "dx": 7, "dy": 9},
    {"align": "right", "dx": -7, "dy": 9},
    {"align": "right", "dx": -7, "dy": -6},
)
"""Where the labels of a system stand, so that those of two at the same place do not meet."""
THROUGHPUT = "throughput"


def latency_load_drawing(view: View) -> Drawing | None:
    """``None`` unless one load with levels that are numbers was measured, with its throughput."""
    points = _points(view)
    if not points:
        return None
    share, rows = points
    scale = scale_for([row["rate"] for row in rows], response_of(view, THROUGHPUT).unit)
    title = f"Response time ({100 * share:g} % of the operations) over throughput"
    words = "; ".join(
        f"{row['place']}: {quantity(row['ns'], 'ns')} at "
        f"{quantity(row['rate'], response_of(view, THROUGHPUT).unit, scale)}"
        for row in rows
    )
    head = ("system", _load(view), f"throughput, {response_of(view, THROUGHPUT).unit}", "time, ns")
    figures = Figures(head, tuple((r["system"], r["level"], r["rate"], r["ns"]) for r in rows))
    return draw(_chart(view, rows, scale, share), "latency-load", title, f"{words}.", figures)


def _load(view: View) -> str:
    return next(iter(view.own.conditions[0])).removeprefix("load.")


def _points(view: View) -> tuple[float, list[dict[str, Any]]] | None:
    """The highest percentile that every cell has, with the median throughput of the cell."""
    conditions = view.own.conditions
    names = {name for each in conditions for name in each}
    levels = [level for each in conditions for level in each.values()]
    if len(conditions) < 2 or len(names) != 1 or not is_numeric(levels):
        return None
    rates = {
        (cell.cell.system, view.run.labels.conditions(cell.cell.conditions)): cell.median
        for cell in view.own.cells
        if cell.response == THROUGHPUT and cell.median
    }
    share = _common_share(view.own.latency)
    if share is None:
        return None
    rows = [
        {
            "system": found.cell.system,
            "place": view.run.labels.place(found.cell.system, found.cell.conditions),
            "level": level,
            "rate": rate,
            "ns": _at(found, share),
        }
        for found in view.own.latency
        for level in found.cell.conditions.values()
        if (
            rate := rates.get(
                (found.cell.system, view.run.labels.conditions(found.cell.conditions))
            )
        )
    ]
    return (share, sorted(rows, key=lambda row: row["level"])) if len(rows) > 1 else None


def _common_share(cells: Sequence[LatencyFinding]) -> float | None:
    known = [{p.share for p in found.percentiles if p.value_ns is not None} for found in cells]
    common = set.intersection(*known) if known else set()
    return max(common, default=None)


def _at(found: LatencyFinding, share: float) -> float:
    return next(p.value_ns or 0.0 for p in found.percentiles if p.share == share)


def _chart(view: View, rows: list[dict[str, Any]], scale: Scale, share: float) -> Spec:
    data = [
        {
            "system": row["system"],
            "x": row["rate"] / scale.divisor,
            "y": round(math.log10(row["ns"]), 4),
            "level": row["level"],
            "said": f"{row['level']:g}",
        }
        for row in rows
    ]
    times = [row["ns"] for row in rows]
    title = f"time of {100 * share:g} % of the operations"
    y = time_channel(min(times) / 1.3, max(times) * 1.3, title, domain=False, ticks=False)
    x = {
        "scale": value_scale([row["x"] for row in data], may_be_log=False),
        "axis": {"title": f"throughput, {scale.unit}", "grid": False, "tickCount": 5,
                 "format": ",~r"},
    }  # fmt: skip
    base = {
        "x": scaled("x", x),
        "y": scaled("y", y),
        "color": system_colours(view.run.systems),
    }
    line = {**base, "order": scaled("level", {})}
    dots = {**base, "shape": system_shapes(view.run.systems)}
    layers = [
        marks("line", data, line, strokeWidth=1.4),
        marks("point", data, dots, size=45, filled=True, opacity=1),
    ]
    for place, system in enumerate(view.run.systems):
        own = [row for row in data if row["system"] == system]
        side = SIDES[place % len(SIDES)]
        layers.append(marks("text", own, {**base, "text": "said"}, fontSize=10, **side))
    return layered(layers, WIDTH_PX, HEIGHT_PX)
