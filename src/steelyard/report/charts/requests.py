"""The whole distribution of request times: one panel a condition, time on an axis of ratios."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import altair as alt

from steelyard.judge.analyses.requests.findings import RequestTimesFinding
from steelyard.report.charts.axes import labelled_axis, log_ticks
from steelyard.report.charts.drawing import Drawing, Layer, draw, inline_data, system_colours
from steelyard.report.figures import counted, quantity, scale_for
from steelyard.report.view import View

WIDTH_PX, HEIGHT_PX = 620, 170


def request_drawings(view: View) -> Iterator[Drawing]:
    """One chart for each condition, all systems in it; the share of a bar may be a millionth."""
    groups: dict[str, list[RequestTimesFinding]] = {}
    for found in view.own.request_times:
        groups.setdefault(view.run.labels.conditions(found.cell.conditions), []).append(found)
    for number, (where, cells) in enumerate(groups.items()):
        title = "Requests by total time" + (f", at {where}" if where else "")
        words = "; ".join(
            f"{found.cell.system}: {counted(found.requests, 'request')}, from "
            f"{quantity(found.bars[0].low_ns, 'ns')} to {quantity(found.bars[-1].high_ns, 'ns')}"
            for found in cells
        )
        yield draw(_chart(view.run.systems, cells), f"requests-{number}", title, words)


def _chart(systems: Sequence[str], cells: Sequence[RequestTimesFinding]) -> Layer:
    rows = [row for found in cells for row in _steps(found)]
    x: dict[str, Any] = {
        "scale": alt.Scale(domain=[min(r["x"] for r in rows), max(r["x"] for r in rows)]),
        "axis": labelled_axis(_ticks(rows), title="time, logarithmic", grid=True),
    }
    lowest = min(row["y"] for row in rows)
    y: dict[str, Any] = {
        "scale": alt.Scale(domain=[lowest - 0.3, 0.0], nice=False),
        "axis": labelled_axis(
            [(float(p), f"{10.0 ** (p + 2):g} %") for p in range(math.ceil(lowest), 1)],
            title="share of the requests, logarithmic",
        ),
    }
    return (
        alt.Chart(inline_data(rows))
        .mark_line(interpolate="step-after", strokeWidth=1.6)
        .encode(
            x=alt.X("x:Q", **x),
            y=alt.Y("y:Q", **y),
            color=alt.Color("system:N", scale=system_colours(systems), legend=None),
            detail="piece:N",
        )
        .properties(width=WIDTH_PX, height=HEIGHT_PX)
    )


def _steps(found: RequestTimesFinding) -> Iterator[dict[str, Any]]:
    """The outline of the bars; a gap begins a new piece, so that nothing is drawn over it."""
    piece, beyond = 0, None
    for bar in found.bars:
        if beyond is not None and bar.low_ns > beyond * 1.01:
            piece += 1
        beyond = bar.high_ns
        share = math.log10(bar.requests / found.requests)
        for edge in (bar.low_ns, bar.high_ns):
            yield {
                "system": found.cell.system,
                "piece": f"{found.cell.system} {piece}",
                "x": math.log10(edge),
                "y": share,
            }


def _ticks(rows: Sequence[dict[str, Any]]) -> list[tuple[float, str]]:
    low, high = (pick(row["x"] for row in rows) for pick in (min, max))
    round_ns = (tick for tick in log_ticks([10**low, 10**high]))
    return [(math.log10(ns), _label(ns)) for ns in round_ns if low <= math.log10(ns) <= high]


def _label(time_ns: float) -> str:
    scale = scale_for([time_ns], "ns")
    return f"{time_ns / scale.divisor:g} {scale.unit}"
