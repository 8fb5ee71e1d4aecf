"""Where the time of an operation goes: the mean of each phase, one stacked bar a cell."""

from __future__ import annotations

from typing import Any

from steelyard.judge.analyses.latency.findings import LatencyFinding
from steelyard.report.charts.axes import row_axis, wrapped
from steelyard.report.charts.colours import INK, PAPER, part_colours
from steelyard.report.charts.conditions import condition_labels
from steelyard.report.charts.drawing import Drawing, Figures, draw
from steelyard.report.charts.vega import Spec, layered, marks, scaled
from steelyard.report.figures import quantity, scale_for
from steelyard.report.view import View

WIDE_PX, NARROW_PX, ROW_PX = 470, 190, 24
WRAP_AT, LINE_PX = 24, 12
MOST_PHASES = 6
LEAST_SHARE = 0.01
REST = "all others"
LABELS = {
    "connect": "connect",
    "tls": "TLS handshake",
    "banner": "greeting",
    "stls": "STLS",
    "starttls": "STARTTLS",
    "capa": "CAPA",
    "capability": "CAPABILITY",
    "ehlo": "EHLO",
    "auth": "login",
    "select": "SELECT",
    "stat": "STAT",
    "list": "LIST",
    "mail": "MAIL",
    "rcpt": "RCPT",
    "data": "DATA",
    "eom": "content to final reply",
    "submit": "submission",
    "delivered": "until it is seen",
    "ttfb": "wait for the first byte",
    "body": "transfer",
    "retr-first": "RETR to first line",
    "retr-last": "rest of the message",
    "fetch-first": "FETCH to first byte",
    "fetch-last": "rest of the message",
}
"""By phase of the engine's result, in the order in which they pass; another goes by its name."""


def phase_drawings(view: View) -> list[Drawing]:
    """The chart for wide and for narrow pages; none where operations have fewer than two phases."""
    cells = [found for found in view.own.latency if len(found.phases) > 1]
    if not cells:
        return []
    names = shown_phases(cells)
    labels = _row_labels(view, cells)
    title = "Mean time of an operation by phase"
    words = "; ".join(
        _words(found, names, label) for found, label in zip(cells, labels, strict=True)
    )
    return [
        draw(_chart(cells, names, labels, width), f"phases-{size}", title, words + ".",
             _figures(view, cells))
        for size, width in (("wide", WIDE_PX), ("narrow", NARROW_PX))
    ]  # fmt: skip


def shown_phases(cells: list[LatencyFinding]) -> list[str]:
    """The phases that take most, in the order in which they pass."""
    known = list(LABELS)
    found_there = dict.fromkeys(phase.name for found in cells for phase in found.phases)
    order = sorted(found_there, key=lambda n: known.index(n) if n in LABELS else len(known))
    largest = {name: max(_shares(found).get(name, 0.0) for found in cells) for name in order}
    kept = sorted(order, key=lambda name: -largest[name])[:MOST_PHASES]
    return [name for name in order if name in kept and largest[name] >= LEAST_SHARE]


def means_ns(found: LatencyFinding) -> dict[str, float]:
    """Time in each phase for each answered operation; not every operation has every phase."""
    return {p.name: p.mean_ns * p.operations / found.answered for p in found.phases}


def _shares(found: LatencyFinding) -> dict[str, float]:
    means = means_ns(found)
    whole = sum(means.values())
    return {name: mean / whole for name, mean in means.items()} if whole else {}


def _parts(found: LatencyFinding, names: list[str]) -> list[tuple[str, float]]:
    means = means_ns(found)
    shown = [(LABELS.get(name, name), means.get(name, 0.0)) for name in names]
    rest = sum(mean for name, mean in means.items() if name not in names)
    return [*shown, (REST, rest)] if rest else shown


def _row_labels(view: View, cells: list[LatencyFinding]) -> list[str]:
    short = condition_labels(view)
    found = []
    for each in cells:
        where = short.short(view.run.labels, each.cell.conditions)
        found.append(f"{each.cell.system}, {where}" if where else each.cell.system)
    return found


def _words(found: LatencyFinding, names: list[str], label: str) -> str:
    parts = ", ".join(f"{name} {quantity(mean, 'ns')}" for name, mean in _parts(found, names))
    return f"{label}: {parts}"


def _chart(cells: list[LatencyFinding], names: list[str], labels: list[str], width_px: int) -> Spec:
    parts = [_parts(found, names) for found in cells]
    scale = scale_for([sum(mean for _, mean in each) for each in parts], "ns")
    rows = [
        row for number, each in enumerate(parts) for row in _stacked(number, each, scale.divisor)
    ]
    phases = list(dict.fromkeys(name for each in parts for name, _ in each))
    legend = {"title": None, "orient": "bottom", "columns": 3 if width_px > 300 else 2,
              "labelLimit": 0, "labelColor": INK}  # fmt: skip
    axis = {"title": f"mean time of an operation, {scale.unit}", "tickCount": 5, "format": "~r"}
    channels = {
        "y": row_axis(labels, WRAP_AT, labelLineHeight=LINE_PX),
        "x": scaled("from", {"axis": axis, "scale": {"zero": True, "nice": True}}),
        "x2": "to",
        "color": part_colours(phases, "phase", legend),
    }
    bars = marks("bar", rows, channels, stroke=PAPER, strokeWidth=1, height=ROW_PX - 8)
    lines = max(len(wrapped(label, WRAP_AT)) for label in labels)
    row_px = max(ROW_PX, LINE_PX * lines + 8)
    return layered([bars], width_px, row_px * len(cells))


def _stacked(number: int, parts: list[tuple[str, float]], divisor: float) -> list[dict[str, Any]]:
    rows, begin = [], 0.0
    for name, mean in parts:
        end = begin + mean / divisor
        rows.append({"row": f"{number:03d}", "phase": name, "from": begin, "to": end})
        begin = end
    return rows


def _figures(view: View, cells: list[LatencyFinding]) -> Figures:
    rows = tuple(
        (found.cell.system, view.run.labels.conditions(found.cell.conditions), p.name,
         p.operations, p.mean_ns)
        for found in cells for p in found.phases
    )  # fmt: skip
    return Figures(("system", "condition", "phase", "operations", "mean, ns"), rows)
