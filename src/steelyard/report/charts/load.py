"""A response against its conditions: each trial a mark, medians with their intervals."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from steelyard.judge.findings import CellFinding, ResponseFinding
from steelyard.report.charts.axes import (
    is_logarithmic,
    is_numeric,
    labels_at,
    level_axis,
    log_axis,
    log_ticks,
    value_scale,
    wrapped,
)
from steelyard.report.charts.colours import MUTED, system_colours, system_shapes
from steelyard.report.charts.conditions import condition_labels
from steelyard.report.charts.drawing import Drawing, Figures, draw
from steelyard.report.charts.vega import Spec, axis_over, constant, layered, marks, scaled
from steelyard.report.figures import Scale, counted, quantity, scale_for, significant
from steelyard.report.view import View
from steelyard.study.labels import Labels

WIDTH_PX, HEIGHT_PX = 300, 190
DODGE_SHARE = 0.045
WIDEST_LABEL = 16
MOST_LETTERS = 32
MOST_TRIALS = 60
_LOG_UNITS = {"ns", "us", "µs", "ms", "s"}
_LETTER_PX = 6.2


@dataclass(frozen=True)
class Places:
    """Where each condition stands on the x axis: numbers for one numeric factor, else in turn.

    ``joined``: the places are numbers, so that a line may join their medians.
    """

    title: str | None
    ticks: tuple[tuple[float, str], ...]
    by_text: dict[str, float]
    dodge: float
    joined: bool = False


def places_of(view: View) -> Places:
    """Users 1, 4, 16 stand by their (log) number; anything else in the order of the study."""
    conditions = view.own.conditions or ({},)
    names = list(conditions[0])
    levels = [c[names[0]] for c in conditions] if len(names) == 1 else []
    texts = [view.run.labels.conditions(c) for c in conditions]
    if len(conditions) == 1:
        middle = (len(view.run.systems) - 1) / 2
        alone = tuple((i - middle, system) for i, system in enumerate(view.run.systems))
        return Places(texts[0] or None, alone, {texts[0]: 0.0}, 1.0)
    if len(levels) < 2 or not is_numeric(levels):
        at = {text: float(i) for i, text in enumerate(texts)}
        short = condition_labels(view)
        by_turn = tuple((at[t], short.of.get(t, t)) for t in texts)
        return Places(short.title, by_turn, at, DODGE_SHARE * (len(texts) - 1))
    numbers = [float(level) for level in levels]
    wide = min(numbers) > 0 and max(numbers) / min(numbers) >= 8
    spots = [math.log2(n) if wide else n for n in numbers]
    (name,) = names
    written = [view.run.labels.level(level, name) for level in levels]
    ticks = tuple(zip(spots, written, strict=True))
    by_text = dict(zip(texts, spots, strict=True))
    dodge = DODGE_SHARE * (max(spots) - min(spots))
    return Places(level_axis(name, wide=wide), ticks, by_text, dodge, joined=True)


def load_drawing(view: View, response: ResponseFinding) -> Drawing | None:
    """The chart of one response, ``None`` when no cell of it has a value."""
    cells = [
        c
        for c in view.own.cells
        if c.response == response.name and c.cell.conditions in view.own.conditions
    ]
    if not any(cell.values for cell in cells):
        return None
    scale = scale_for([v for c in cells for v in c.values], response.unit)
    name = "load-" + "".join(ch if ch.isascii() and ch.isalnum() else "-" for ch in response.name)
    return draw(
        _chart(view, response, cells, scale),
        name,
        response.label,
        _words(cells, response, view.run.labels),
        _figures(cells, response, view.run.labels),
    )


def _words(cells: list[CellFinding], response: ResponseFinding, labels: Labels) -> str:
    said = []
    for cell in cells:
        where = labels.place(cell.cell.system, cell.cell.conditions)
        if cell.median is None:
            said.append(f"{where}: not measured")
        else:
            n = counted(len(cell.values), "trial")
            said.append(f"{where}: median {quantity(cell.median, response.unit)}, {n}")
    return "; ".join(said) + "."


def _figures(cells: list[CellFinding], response: ResponseFinding, labels: Labels) -> Figures:
    unit = response.unit or "no unit"
    head = ("system", "condition", "trials", f"median, {unit}", f"low, {unit}", f"high, {unit}")
    rows = tuple(
        (
            cell.cell.system,
            labels.conditions(cell.cell.conditions),
            len(cell.values),
            cell.median,
            cell.low,
            cell.high,
        )
        for cell in cells
    )
    return Figures(head, rows)


def _chart(view: View, response: ResponseFinding, cells: list[CellFinding], scale: Scale) -> Spec:
    places = places_of(view)
    values = [v / scale.divisor for c in cells for v in c.values]
    x = _x(places)
    log = response.unit in _LOG_UNITS or response.direction == "none"
    title = f"{response.label}, {scale.unit}" if scale.unit else response.label
    y = {
        "scale": value_scale(values, may_be_log=log),
        "axis": _y_axis(values, title, log=log),
    }
    medians = [_median_row(c, view, places, scale) for c in cells if c.median is not None]
    intervals = [row for row in medians if row["low"] is not None]
    trials = [row for c in cells for row in _trial_rows(c, view, places, scale)]
    across = {"x": scaled("x", x), "color": system_colours(view.run.systems)}
    at = {**across, "y": scaled("y", y)}
    dots = {**at, "shape": system_shapes(view.run.systems), "description": "said"}
    span = {**across, "y": scaled("low", y), "y2": "high"}
    layers = [
        marks("point", trials, dots, size=18, opacity=1, strokeWidth=1, filled=False),
        marks("rule", intervals, span, strokeWidth=3, opacity=1),
        marks("point", medians, dots, size=60, opacity=1, filled=True),
        _absent(cells, view, places, across),
    ]
    if places.joined:
        layers.insert(0, marks("line", medians, at, strokeWidth=1.6))
    return layered(layers, WIDTH_PX, HEIGHT_PX)


def _x(places: Places) -> Spec:
    """Labels wrapped to the width of their places; slanted where that is too little."""
    at, labels = [tick for tick, _ in places.ticks], [label for _, label in places.ticks]
    pad = 0.18 * (max(at) - min(at)) if len(places.by_text) > 1 else 0.7
    room = int(WIDTH_PX / max(1, len(labels)) / _LETTER_PX)
    if places.joined:
        axis = labels_at(places.ticks)
    elif room >= min(WIDEST_LABEL, max(map(len, labels))) or room >= WIDEST_LABEL // 2:
        axis = {**labels_at(places.ticks, room), "labelLimit": 0}
    else:
        axis = {**labels_at(places.ticks, 2 * WIDEST_LABEL), "labelAngle": -40,
                "labelAlign": "right", "labelLimit": 0}  # fmt: skip
    return axis_over(min(at) - pad, max(at) + pad, **axis, title=places.title, grid=False)


def _y_axis(values: list[float], title: str, *, log: bool) -> Spec:
    wide = log and is_logarithmic(values)
    ticks: Spec = {"values": log_ticks(values)} if wide else {"tickCount": 5}
    lines = wrapped(log_axis(title) if wide else title, MOST_LETTERS)
    return {**ticks, "title": lines, "domain": False, "ticks": False, "minExtent": 34,
            "format": "short"}  # fmt: skip


def _at(cell: CellFinding, view: View, places: Places) -> float:
    """The place of a cell, with systems beside one another rather than on top."""
    systems = view.run.systems
    index = systems.index(cell.cell.system) if cell.cell.system in systems else 0
    offset = (index - (len(systems) - 1) / 2) * places.dodge
    return places.by_text.get(view.run.labels.conditions(cell.cell.conditions), 0.0) + offset


def _median_row(cell: CellFinding, view: View, places: Places, scale: Scale) -> dict[str, Any]:
    return {
        "system": cell.cell.system,
        "x": _at(cell, view, places),
        "y": (cell.median or 0.0) / scale.divisor,
        "said": f"{_where(cell, view)}: median {_in(cell.median or 0.0, scale)}",
        "low": None if cell.low is None else cell.low / scale.divisor,
        "high": None if cell.high is None else cell.high / scale.divisor,
    }


def _trial_rows(
    cell: CellFinding, view: View, places: Places, scale: Scale
) -> list[dict[str, Any]]:
    """Every trial, or of very many those that stand evenly in the order of their values."""
    at, where = _at(cell, view, places), _where(cell, view)
    values = sorted(zip(cell.values, cell.trials, strict=True))
    step = max(1.0, (len(values) - 1) / (MOST_TRIALS - 1))
    shown = [values[round(i * step)] for i in range(min(len(values), MOST_TRIALS))]
    return [
        {
            "system": cell.cell.system,
            "x": at,
            "y": value / scale.divisor,
            "said": f"{where}, trial {trial}: {_in(value, scale)}",
        }
        for value, trial in shown
    ]


def _where(cell: CellFinding, view: View) -> str:
    conditions = view.run.labels.conditions(cell.cell.conditions)
    return ", ".join(filter(None, (cell.cell.system, conditions)))


def _in(value: float, scale: Scale) -> str:
    return f"{significant(value / scale.divisor)} {scale.unit}".rstrip().replace("-", "−")


def _absent(cells: list[CellFinding], view: View, places: Places, across: Spec) -> Spec:
    rows = [
        {"system": c.cell.system, "x": _at(c, view, places), "said": "not measured"}
        for c in cells
        if not c.values
    ]
    channels = {**across, "y": constant(HEIGHT_PX - 6), "text": "said"}
    return marks("text", rows, channels, angle=270, align="left", baseline="middle",
                 fontStyle="italic", color=MUTED)  # fmt: skip
