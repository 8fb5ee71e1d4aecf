"""Over time: resources across the trials, and the response in the order it was measured."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt
import polars as pl

from steelyard.judge.findings import CellFinding
from steelyard.judge.visits.readings import Key, key_of
from steelyard.records.archive import attempt_key
from steelyard.report.charts.axes import effect_ticks, labelled_axis
from steelyard.report.charts.drawing import (
    MUTED,
    Drawing,
    Layer,
    draw,
    inline_data,
    system_colours,
    system_shapes,
)
from steelyard.report.tables.rates import RESOURCES, Point, Resource, points
from steelyard.report.view import View
from steelyard.report.vocabulary import primary_response
from steelyard.study.model import Level

PANEL_WIDTH_PX, PANEL_HEIGHT_PX = 250, 96
SECONDS = "format(datum.value, '~g') + ' s'"
MOST_CONDITIONS = 4
MOST_POINTS_PER_PANEL = 2400
MOST_POINTS_PER_TRIAL = 80

Series = Mapping[str, pl.DataFrame]


@dataclass(frozen=True)
class Panels:
    """One resource: a drawing per condition, and how many trials could be drawn."""

    resource: Resource
    drawings: tuple[Drawing, ...]
    trials_drawn: int
    trials_sampled: int


def shown_conditions(view: View) -> list[dict[str, Level]]:
    """The conditions that get a panel: all, or evenly chosen with the first and the last."""
    cells = (cell.cell.conditions for cell in view.own.cells)
    found = list(view.own.conditions) or list({key_of(c): c for c in cells}.values())
    if len(found) <= MOST_CONDITIONS:
        return found
    last = len(found) - 1
    return [found[round(i * last / (MOST_CONDITIONS - 1))] for i in range(MOST_CONDITIONS)]


def resource_panels(view: View, series: Series) -> list[Panels]:
    """Every resource that was sampled and is not flat at zero, one panel per condition."""
    found = (_panels(view, series, resource) for resource in RESOURCES)
    return [panels for panels in found if panels is not None]


def _panels(view: View, series: Series, resource: Resource) -> Panels | None:
    lines: dict[Key, list[tuple[str, list[Point]]]] = {}
    for attempt in view.attempts:
        key = attempt_key(attempt.trial, attempt.attempt)
        frame = series.get(key) if attempt.outcome == "ok" else None
        line = [] if frame is None else points(frame, resource)
        if line:
            found = lines.setdefault(key_of(attempt.cell.conditions), [])
            found.append((attempt.cell.system, line))
    highest = max((p.value for group in lines.values() for _, ln in group for p in ln), default=0)
    if highest <= 0:
        return None
    drawings, drawn = [], 0
    for number, conditions in enumerate(shown_conditions(view)):
        group = lines.get(key_of(conditions), [])
        kept = thin(group)
        drawn += len(kept)
        name = f"time-{resource.name}-{number}"
        drawings.append(_panel(view, resource, conditions, kept, name=name, highest=highest))
    total = sum(len(group) for group in lines.values())
    return Panels(resource, tuple(drawings), drawn, total)


def thin(group: Sequence[tuple[str, list[Point]]]) -> list[tuple[str, list[Point]]]:
    """At most so many points: long trials averaged in equal runs, many trials chosen evenly."""
    short = [(system, averaged(line, MOST_POINTS_PER_TRIAL)) for system, line in group]
    systems = list(dict.fromkeys(system for system, _ in short))
    longest = max((len(line) for _, line in short), default=1)
    each = max(1, MOST_POINTS_PER_PANEL // (longest * max(1, len(systems))))
    kept = []
    for system in systems:
        own = [item for item in short if item[0] == system]
        step = max(1.0, len(own) / each)
        kept += [own[int(i * step)] for i in range(min(each, len(own)))]
    return kept


def averaged(line: list[Point], most: int) -> list[Point]:
    """Means over equal runs of points, so that no more than ``most`` are left."""
    run = math.ceil(len(line) / most)
    if run <= 1:
        return line
    parts = [line[i : i + run] for i in range(0, len(line), run)]
    return [Point(part[-1].at_s, sum(p.value for p in part) / len(part)) for part in parts]


def _panel(
    view: View,
    resource: Resource,
    conditions: dict[str, Level],
    group: list[tuple[str, list[Point]]],
    *,
    name: str,
    highest: float,
) -> Drawing:
    where = view.run.labels.conditions(conditions)
    title = where or f"{resource.label}, {resource.unit}"
    rows: list[dict[str, Any]] = [
        {"t": round(p.at_s, 3), "v": _short(p.value), "system": system, "trial": i}
        for i, (system, line) in enumerate(group)
        for p in line
    ]
    chart = alt.layer(_lines(view, rows, highest), _absent(view, group))
    sized = chart.properties(width=PANEL_WIDTH_PX, height=PANEL_HEIGHT_PX)
    return draw(sized, name, title, _panel_words(view, group, resource))


def _short(value: float) -> float:
    return float(f"{value:.4g}")


def _lines(view: View, rows: list[dict[str, Any]], highest: float) -> Layer:
    return (
        alt.Chart(inline_data(rows))
        .mark_line(strokeWidth=1, opacity=0.5, clip=True)
        .encode(
            x=alt.X("t:Q", axis=alt.Axis(title=None, grid=False, tickCount=4, labelExpr=SECONDS)),
            y=alt.Y(
                "v:Q",
                scale=alt.Scale(domain=[0, highest * 1.05], nice=False),
                axis=alt.Axis(title=None, tickCount=3, domain=False, ticks=False, minExtent=34),
            ),
            color=alt.Color("system:N", scale=system_colours(view.run.systems), legend=None),
            detail="trial:N",
        )
    )


def _absent(view: View, group: list[tuple[str, list[Point]]]) -> Layer:
    """The systems without a line here say so in the panel."""
    absent = [system for system in view.run.systems if system not in {name for name, _ in group}]
    said = f"{', '.join(absent)}: not measured" if absent else ""
    mark = alt.Chart(inline_data([{"said": said}])).mark_text(
        fontStyle="italic", color=MUTED, align="right", baseline="bottom", limit=PANEL_WIDTH_PX
    )
    return mark.encode(x=alt.value(PANEL_WIDTH_PX), y=alt.value(PANEL_HEIGHT_PX - 4), text="said:N")


def _panel_words(view: View, group: list[tuple[str, list[Point]]], resource: Resource) -> str:
    said = [f"{resource.label}, {resource.unit}"]
    for system in view.run.systems:
        means = [sum(p.value for p in ln) / len(ln) for name, ln in group if name == system]
        if not means:
            said.append(f"{system}: not measured")
            continue
        mean = sum(means) / len(means)
        said.append(f"{system}: on average {mean:.3g} {resource.unit} in {len(means)} trials drawn")
    return "; ".join(said) + "."


def order_drawing(view: View) -> Drawing | None:
    """Each trial against the median of its own cell, by visit: drift shows as a slope."""
    response = primary_response(view)
    visits = {a.trial: a.visit for a in view.attempts}
    cells = [c for c in view.own.cells if response is not None and c.response == response.name]
    rows = [row for cell in cells for row in _order_rows(cell, visits)]
    if response is None or not rows:
        return None
    words = (
        f"{len(rows)} trials in {len({r['visit'] for r in rows})} visits, each as a ratio to the "
        "median of its own cell, in the order measured."
    )
    title = f"{response.label} in the order measured, relative to the median of each cell"
    return draw(_order_chart(view, rows), "order", title, words)


def _order_rows(cell: CellFinding, visits: dict[int, int]) -> list[dict[str, Any]]:
    middle = cell.median
    if middle is None or middle <= 0:
        return []
    return [
        {"visit": visits[t], "y": math.log(v / middle), "system": cell.cell.system}
        for t, v in zip(cell.trials, cell.values, strict=True)
        if t in visits and v > 0
    ]


def _order_chart(view: View, rows: list[dict[str, Any]]) -> Layer:
    reach = max(0.02, *(abs(row["y"]) for row in rows)) * 1.1
    scale = alt.Scale(domain=[-reach, reach], nice=False)
    axis = labelled_axis(effect_ticks(-reach, reach, 5), title=None, domain=False, ticks=False)
    y = alt.Y("y:Q", scale=scale, axis=axis)
    visit_axis = alt.Axis(title="visit", grid=False, tickMinStep=1, format="d")
    last = max(row["visit"] for row in rows)
    x = alt.X("visit:Q", scale=alt.Scale(domain=[0.5, last + 0.5], nice=False), axis=visit_axis)
    zero = alt.Chart(inline_data([{"y": 0.0}])).mark_rule(color=MUTED).encode(y=y)
    dots = (
        alt.Chart(inline_data(rows))
        .mark_point(size=34, opacity=0.75, filled=True)
        .encode(
            x=x,
            y=y,
            color=alt.Color("system:N", scale=system_colours(view.run.systems), legend=None),
            shape=alt.Shape("system:N", scale=system_shapes(view.run.systems), legend=None),
        )
    )
    return alt.layer(zero, dots).properties(width=300, height=150)
