"""A response against its conditions: each trial a mark, medians with their intervals."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import altair as alt

from steelyard.judge.findings import CellFinding, ResponseFinding
from steelyard.report.charts.axes import (
    is_logarithmic,
    is_numeric,
    labelled_axis,
    log_axis,
    log_ticks,
    value_scale,
    wrapped,
)
from steelyard.report.charts.conditions import condition_labels
from steelyard.report.charts.drawing import (
    MUTED,
    Drawing,
    Figures,
    Layer,
    draw,
    inline_data,
    system_colours,
    system_shapes,
)
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
    name = names[0].removeprefix("load.")
    ticks = tuple((s, f"{level}") for s, level in zip(spots, levels, strict=True))
    by_text = dict(zip(texts, spots, strict=True))
    dodge = DODGE_SHARE * (max(spots) - min(spots))
    return Places(log_axis(name) if wide else name, ticks, by_text, dodge, joined=True)


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


def _chart(view: View, response: ResponseFinding, cells: list[CellFinding], scale: Scale) -> Layer:
    places = places_of(view)
    values = [v / scale.divisor for c in cells for v in c.values]
    x = _x(places)
    log = response.unit in _LOG_UNITS or response.direction == "none"
    title = f"{response.label}, {scale.unit}" if scale.unit else response.label
    y_scale = value_scale(values, may_be_log=log)
    y: dict[str, Any] = {"scale": y_scale, "axis": _y_axis(values, title, log=log)}
    colour = alt.Color("system:N", scale=system_colours(view.run.systems), legend=None)
    shape = alt.Shape("system:N", scale=system_shapes(view.run.systems), legend=None)
    medians = [_median_row(c, view, places, scale) for c in cells if c.median is not None]
    trials = [row for c in cells for row in _trial_rows(c, view, places, scale)]
    base = alt.Chart(inline_data(medians)).encode(color=colour, x=alt.X("x:Q", **x))
    layers = [
        alt.Chart(inline_data(trials))
        .mark_point(size=18, opacity=1, strokeWidth=1, filled=False, aria=True)
        .encode(
            x=alt.X("x:Q", **x),
            y=alt.Y("y:Q", **y),
            color=colour,
            shape=shape,
            description="said:N",
        ),
        base.transform_filter("isValid(datum.low)")
        .mark_rule(strokeWidth=3, opacity=1)
        .encode(y=alt.Y("low:Q", **y), y2="high:Q"),
        base.mark_point(size=60, opacity=1, filled=True, aria=True).encode(
            y=alt.Y("y:Q", **y), shape=shape, description="said:N"
        ),
        _absent(cells, view, places, x, colour),
    ]
    if places.joined:
        layers.insert(0, base.mark_line(strokeWidth=1.6).encode(y=alt.Y("y:Q", **y)))
    return alt.layer(*layers).properties(width=WIDTH_PX, height=HEIGHT_PX)


def _x(places: Places) -> dict[str, Any]:
    at = [tick for tick, _ in places.ticks]
    pad = 0.18 * (max(at) - min(at)) if len(places.by_text) > 1 else 0.7
    return {
        "scale": alt.Scale(domain=[min(at) - pad, max(at) + pad], nice=False, zero=False),
        "axis": _x_axis(places, [label for _, label in places.ticks]),
    }


def _x_axis(places: Places, labels: list[str]) -> alt.Axis:
    """Labels wrapped to the width of their places; slanted where that is too little."""
    title = places.title
    if places.joined:
        return labelled_axis(places.ticks, title=title, grid=False, labelOverlap=True)
    room = int(WIDTH_PX / max(1, len(labels)) / _LETTER_PX)
    if room >= min(WIDEST_LABEL, max(map(len, labels))) or room >= WIDEST_LABEL // 2:
        return labelled_axis(places.ticks, room, title=title, grid=False, labelLimit=0)
    return labelled_axis(places.ticks, 2 * WIDEST_LABEL, title=title, grid=False, labelAngle=-40,
                         labelAlign="right", labelLimit=0)  # fmt: skip


def _y_axis(values: list[float], title: str, *, log: bool) -> alt.Axis:
    wide = log and is_logarithmic(values)
    options: dict[str, Any] = {"values": log_ticks(values)} if wide else {"tickCount": 5}
    expression = "format(datum.value, datum.value >= 10 ? ',.0f' : '.2~g')"
    lines = wrapped(log_axis(title) if wide else title, MOST_LETTERS)
    return alt.Axis(title=lines, domain=False, ticks=False, minExtent=34, **options,
                    labelExpr=expression, labelOverlap=True)  # fmt: skip


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


def _absent(
    cells: list[CellFinding],
    view: View,
    places: Places,
    x: dict[str, Any],
    colour: alt.Color,
) -> Layer:
    rows = [
        {"system": c.cell.system, "x": _at(c, view, places), "said": "not measured"}
        for c in cells
        if not c.values
    ]
    mark = alt.Chart(inline_data(rows)).mark_text(
        angle=270, align="left", baseline="middle", fontStyle="italic", color=MUTED
    )
    return mark.encode(x=alt.X("x:Q", **x), y=alt.value(HEIGHT_PX - 6), text="said:N", color=colour)
