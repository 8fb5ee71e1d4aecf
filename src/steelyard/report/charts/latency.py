"""The tail of response times: which share of the operations took at least so long, by system."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from steelyard.judge.analyses.latency.findings import LatencyFinding
from steelyard.report.charts.colours import system_colours, system_shapes
from steelyard.report.charts.drawing import Across, Drawing, Figures, draw
from steelyard.report.charts.time_axes import share_channel, time_channel
from steelyard.report.charts.vega import Spec, layered, marks, scaled
from steelyard.report.figures import counted, quantity
from steelyard.report.view import View

WIDTH_PX, HEIGHT_PX = 300, 210


def by_condition(view: View) -> dict[str, list[LatencyFinding]]:
    """The cells of each condition, by its text, in the order of the study."""
    groups: dict[str, list[LatencyFinding]] = {}
    for found in view.own.latency:
        groups.setdefault(view.run.labels.conditions(found.cell.conditions), []).append(found)
    return groups


def tail_drawings(view: View) -> Iterator[Drawing]:
    """One chart for each condition, all systems in it; all with the same axes."""
    cells = view.own.latency
    if not cells:
        return
    channels = _channels(cells)
    for number, (where, group) in enumerate(by_condition(view).items()):
        chart = _chart(view.run.systems, group, *channels)
        across = _across(cells)
        words = "; ".join(_words(found) for found in group) + "."
        title = "Response times" + (f" at {where}" if where else "")
        yield draw(chart, f"tail-{number}", title, words, _figures(group, where), across=across)


def _across(cells: Sequence[LatencyFinding]) -> Across:
    low_ns, high_ns = _extent_ns(cells)
    return Across(WIDTH_PX, math.log10(low_ns), math.log10(high_ns), column=2, log=True)


def _extent_ns(cells: Sequence[LatencyFinding]) -> tuple[int, int]:
    return min(each.tail[0][0] for each in cells), max(each.tail[-1][0] for each in cells)


def _channels(cells: Sequence[LatencyFinding]) -> tuple[Spec, Spec]:
    low_ns, high_ns = _extent_ns(cells)
    least = min(found.tail[-1][1] / found.answered for found in cells)
    return (
        time_channel(low_ns, high_ns, "response time"),
        share_channel(least, "operations at least as slow"),
    )


def _chart(systems: Sequence[str], group: Sequence[LatencyFinding], x: Spec, y: Spec) -> Spec:
    rows = [
        {
            "system": found.cell.system,
            "x": round(math.log10(at_ns), 4),
            "y": round(math.log10(count / found.answered), 4),
        }
        for found in group
        for at_ns, count in found.tail
    ]
    base = {"x": scaled("x", x), "y": scaled("y", y), "color": system_colours(systems)}
    ends = [rows_of[-1] for found in group if (rows_of := _of(found.cell.system, rows))]
    slowest = {**base, "shape": system_shapes(systems)}
    layers = [
        marks("line", rows, base, strokeWidth=1.8, clip=True),
        marks("point", ends, slowest, size=50, filled=True, opacity=1),
    ]
    return layered(layers, WIDTH_PX, HEIGHT_PX)


def _of(system: str, rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return [row for row in rows if row["system"] == system]


def _words(found: LatencyFinding) -> str:
    known = [p for p in found.percentiles if p.value_ns is not None]
    operations = counted(found.answered, "operation")
    said = [f"{found.cell.system}: {operations} answered in {counted(found.trials, 'trial')}"]
    said += [f"{100 * p.share:g} % within {quantity(p.value_ns or 0.0, 'ns')}" for p in known]
    said.append(f"the slowest took {quantity(found.tail[-1][0], 'ns')}")
    if found.failed:
        said.append(f"{counted(found.failed, 'operation')} failed and have no time")
    return ", ".join(said)


def _figures(group: Sequence[LatencyFinding], where: str) -> Figures:
    head = ("system", "condition", "at least, ns", "operations", "of")
    rows = tuple(
        (found.cell.system, where, at_ns, count, found.answered)
        for found in group
        for at_ns, count in found.tail
    )
    return Figures(head, rows)
