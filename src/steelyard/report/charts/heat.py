"""Response times over the window: of each interval the share of its answers in each bar of time."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from steelyard.judge.analyses.latency.findings import LatencyFinding
from steelyard.report.charts.colours import colour_of
from steelyard.report.charts.conditions import Panels, evenly
from steelyard.report.charts.drawing import Drawing, Figures, draw
from steelyard.report.charts.time_axes import time_channel, time_label
from steelyard.report.charts.vega import Spec, axis_over, layered, marks, scaled
from steelyard.report.view import View

WIDTH_PX, HEIGHT_PX = 300, 130
MOST_INTERVALS = 30
BARS_IN_TENFOLD = 10
SHADES = (0.02, 0.05, 0.1, 0.2, 0.4)
"""Least shares of the shades; what is less common has the lightest."""
_OPACITIES = (0.18, 0.34, 0.5, 0.66, 0.83, 1.0)


def heat_drawings(view: View) -> Iterator[Panels]:
    """For each condition one map a system, all with the same axes; none without times by time."""
    cells = [found for found in view.own.latency if found.over_time]
    bars = [low for found in cells for each in found.over_time for low, _ in each.bars]
    if not bars:
        return
    y = time_channel(min(bars), _end(max(bars)), "response time", domain=False, ticks=False)
    groups: dict[str, list[LatencyFinding]] = {}
    for found in cells:
        groups.setdefault(view.run.labels.conditions(found.cell.conditions), []).append(found)
    for number, (where, group) in enumerate(evenly(list(groups.items()))):
        maps = (
            _drawing(view, each, where, f"heat-{number}-{i}", y) for i, each in enumerate(group)
        )
        yield Panels(where, tuple(maps))


def _drawing(view: View, found: LatencyFinding, where: str, name: str, y: Spec) -> Drawing:
    columns = _columns(found)
    place = (
        view.run.systems.index(found.cell.system) if found.cell.system in view.run.systems else 0
    )
    chart = _chart(_runs(columns), _width_s(found), len(columns), y, colour_of(place))
    middles = [_middle(counts) for _, counts in columns if counts]
    words = (
        f"{len(columns)} intervals; the middle answer of an interval took from "
        f"{time_label(min(middles))} to {time_label(max(middles))}."
    )
    title = f"Response times over the window, {found.cell.system}" + (
        f" at {where}" if where else ""
    )
    return draw(chart, name, title, words, _figures(found, columns))


Column = tuple[float, Counter[int]]


def _columns(found: LatencyFinding) -> list[Column]:
    """Intervals and bars of the finding, taken together to what a map can show."""
    together = math.ceil(len(found.over_time) / MOST_INTERVALS)
    columns = []
    for first in range(0, len(found.over_time), together):
        counts: Counter[int] = Counter()
        for each in found.over_time[first : first + together]:
            for low_ns, count in each.bars:
                counts[_begin(low_ns)] += count
        columns.append((found.over_time[first].start_s, counts))
    return columns


def _width_s(found: LatencyFinding) -> float:
    starts = [each.start_s for each in found.over_time]
    between = (starts[-1] - starts[0]) / (len(starts) - 1) if len(starts) > 1 else 1.0
    return between * math.ceil(len(starts) / MOST_INTERVALS)


def _begin(low_ns: int) -> int:
    place = math.floor(math.log10(max(1, low_ns)) * BARS_IN_TENFOLD + 0.01)
    return round(10 ** (place / BARS_IN_TENFOLD))


def _end(low_ns: int) -> int:
    return round(_begin(low_ns) * 10 ** (1 / BARS_IN_TENFOLD))


def _middle(counts: Counter[int]) -> int:
    seen, half = 0, sum(counts.values()) / 2
    for low_ns in sorted(counts):
        seen += counts[low_ns]
        if seen >= half:
            return low_ns
    raise ValueError("an interval without answers")


def _runs(columns: Sequence[Column]) -> Iterator[dict[str, Any]]:
    """Neighbours of one shade as one mark: a map has many cells and few shades."""
    shades = [_shades(counts) for _, counts in columns]
    for low_ns in sorted({low for shade in shades for low in shade}):
        begin = 0
        for place in range(1, len(shades) + 1):
            shade = shades[begin].get(low_ns)
            if place < len(shades) and shades[place].get(low_ns) == shade:
                continue
            if shade is not None:
                yield {"begin": begin, "end": place, "low": low_ns, "shade": shade}
            begin = place


def _shades(counts: Counter[int]) -> dict[int, int]:
    total = sum(counts.values())
    return {low: sum(count / total >= least for least in SHADES) for low, count in counts.items()}


def _chart(
    runs: Iterator[dict[str, Any]], width_s: float, columns: int, y: Spec, colour: str
) -> Spec:
    rows = [
        {
            "x": round(run["begin"] * width_s, 4),
            "x2": round(run["end"] * width_s, 4),
            "y": round(math.log10(run["low"]), 3),
            "y2": round(math.log10(run["low"]) + 1 / BARS_IN_TENFOLD, 3),
            "shade": _OPACITIES[run["shade"]],
        }
        for run in runs
    ]
    x = axis_over(
        0, columns * width_s, title="time in the window, s", grid=False, tickCount=5, format="~r"
    )
    channels = {
        "x": scaled("x", x),
        "x2": "x2",
        "y": scaled("y", y),
        "y2": "y2",
        "fillOpacity": scaled("shade", {"scale": None}),
    }
    return layered([marks("rect", rows, channels, color=colour)], WIDTH_PX, HEIGHT_PX)


def _figures(found: LatencyFinding, columns: Sequence[Column]) -> Figures:
    rows = tuple(
        (found.cell.system, round(start_s, 6), low_ns, count)
        for start_s, counts in columns
        for low_ns, count in sorted(counts.items())
    )
    return Figures(("system", "from, s", "at least, ns", "answers"), rows)
