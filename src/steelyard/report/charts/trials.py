"""Trials in the order measured, each against the median of its cell, and the trend removed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import quantiles

from steelyard.judge.findings import TrendFinding
from steelyard.report.charts.axes import effect_ticks, labels_at, log_axis
from steelyard.report.charts.colours import INK, MUTED, SYSTEM_SHAPES, system_colours, system_shapes
from steelyard.report.charts.conditions import condition_labels, evenly
from steelyard.report.charts.drawing import Drawing, Figures, draw
from steelyard.report.charts.vega import Spec, axis_over, layered, marks, scaled
from steelyard.report.figures import Scale, counted, scale_for, significant
from steelyard.report.view import View
from steelyard.report.vocabulary import primary_response

WIDE_PX, NARROW_PX, HEIGHT_PX = 620, 250, 210
MOST_TRIALS = 1000
SPANS = 60
MOST_POINTS = 200
ONE_CONDITION = "all trials"


@dataclass(frozen=True)
class _Trial:
    """One good trial: its ratio to the median of its cell."""

    trial: int
    visit: int
    system: str
    condition: str
    ratio_log: float
    value: float


def trial_drawings(view: View) -> list[Drawing]:
    """The chart for wide and for narrow pages; none without a trial that has the response."""
    response, trials = primary_response(view), _trials(view)
    if response is None or not trials:
        return []
    title = f"{response.label} in the order measured, relative to the median of each cell"
    words = _words(view, trials)
    unit = response.unit or "no unit"
    head = ("trial", "visit", "system", "condition", f"value, {unit}", "ratio to the median")
    rows = tuple(
        (t.trial, t.visit, t.system, t.condition, t.value, math.exp(t.ratio_log))
        for t in trials[:MOST_TRIALS]
    )
    return [
        draw(_chart(view, trials, width), f"order-{size}", title, words, Figures(head, rows))
        for size, width in (("wide", WIDE_PX), ("narrow", NARROW_PX))
    ]


def _trials(view: View) -> list[_Trial]:
    response = primary_response(view)
    visits = {attempt.trial: attempt.visit for attempt in view.attempts}
    short = condition_labels(view)
    found = []
    for cell in view.own.cells:
        if response is None or cell.response != response.name or not cell.median:
            continue
        where = short.short(view.run.labels, cell.cell.conditions) or ONE_CONDITION
        for trial, value in zip(cell.trials, cell.values, strict=True):
            if trial in visits and value > 0 and cell.median > 0:
                ratio = math.log(value / cell.median)
                found.append(_Trial(trial, visits[trial], cell.cell.system, where, ratio, value))
    return sorted(found, key=lambda each: each.trial)


def _words(view: View, trials: Sequence[_Trial]) -> str:
    visits = len({each.visit for each in trials})
    said = (
        f"{counted(len(trials), 'trial')} in {counted(visits, 'visit')}, each as a ratio to the "
        "median of its own cell, in the order measured."
    )
    for trend in view.own.trends:
        low, high = math.expm1(min(trend.trend_log)), math.expm1(max(trend.trend_log))
        said += (
            f" The line is what changed slowly and was removed before {trend.other} was compared "
            f"with {trend.baseline}: from {100 * low:+.1f} % to {100 * high:+.1f} %."
        )
    return said


def _chart(view: View, trials: Sequence[_Trial], width_px: int) -> Spec:
    trends = [trend for trend in view.own.trends if trend.trends]
    extent = [t.ratio_log for t in trials] + [v for trend in trends for v in trend.trend_log]
    reach = max(0.02, *(abs(value) for value in extent)) * 1.08
    last = max(each.visit for each in trials)
    x = axis_over(0.5, last + 0.999, title="visit, in the order measured", grid=False,
                  tickMinStep=1, format="d")  # fmt: skip
    labels = labels_at(effect_ticks(-reach, reach, 5))
    title = log_axis("against the cell's median")
    y = axis_over(-reach, reach, **labels, title=title, domain=False, ticks=False)
    zero = marks("rule", [{"y": 0.0}], {"y": scaled("y", y)}, color=MUTED)
    many = len(trials) > MOST_TRIALS
    shown = _bands(view, trials, x, y) if many else [_dots(view, trials, x, y, width_px)]
    lines = (_line(view, trend, x, y) for trend in trends)
    return layered([zero, *shown, *lines], width_px, HEIGHT_PX)


def _dots(view: View, trials: Sequence[_Trial], x: Spec, y: Spec, width_px: int) -> Spec:
    """Colour by system; shape by condition, where there are no more of these than shapes."""
    conditions = list(dict.fromkeys(each.condition for each in trials))
    response = primary_response(view)
    scale = scale_for([t.value for t in trials], "" if response is None else response.unit)
    by_condition = 1 < len(conditions) <= len(SYSTEM_SHAPES)
    rows = [
        {
            "x": round(
                each.visit + 0.1 + 0.8 * conditions.index(each.condition) / len(conditions), 3
            ),
            "y": round(each.ratio_log, 4),
            "system": each.system,
            "shape": each.condition if by_condition else each.system,
            "said": _said(each, scale),
        }
        for each in trials
    ]
    names = conditions if by_condition else list(view.run.systems)
    legend = {"title": None, "orient": "bottom", "columns": 6 if width_px > 300 else 2,
              "labelLimit": 0, "labelColor": INK,
              "symbolStrokeColor": MUTED}  # fmt: skip
    channels = {
        "x": scaled("x", x),
        "y": scaled("y", y),
        "color": system_colours(view.run.systems),
        "shape": system_shapes(names, "shape", legend if by_condition else None),
        "description": "said",
    }
    return marks("point", rows, channels, size=34, opacity=1, strokeWidth=1.3,
                 filled=False)  # fmt: skip


def _said(trial: _Trial, scale: Scale) -> str:
    where = "" if trial.condition == ONE_CONDITION else f", {trial.condition}"
    value = f"{significant(trial.value / scale.divisor)} {scale.unit}".rstrip()
    return f"trial {trial.trial}, visit {trial.visit}, {trial.system}{where}: {value}"


def _bands(view: View, trials: Sequence[_Trial], x: Spec, y: Spec) -> list[Spec]:
    """Of very many trials the median and the 10 to 90 % of equal spans of visits, by system."""
    width = max(each.visit for each in trials) / SPANS
    spans: dict[tuple[str, int], list[float]] = {}
    for each in trials:
        spans.setdefault((each.system, int((each.visit - 1) / width)), []).append(each.ratio_log)
    rows = []
    for (system, span), values in sorted(spans.items()):
        tenths = quantiles([*values, *values], n=10, method="inclusive")
        rows.append({"system": system, "x": (span + 0.5) * width + 0.5, "l": tenths[0],
                     "m": tenths[4], "h": tenths[-1]})  # fmt: skip
    base = {"x": scaled("x", x), "color": system_colours(view.run.systems)}
    return [
        marks("area", rows, {**base, "y": scaled("l", y), "y2": "h"}, opacity=0.22),
        marks("line", rows, {**base, "y": scaled("m", y)}, strokeWidth=1.8),
    ]


def _line(view: View, trend: TrendFinding, x: Spec, y: Spec) -> Spec:
    """One trend in ink; of several comparisons each in the colour of the system compared."""
    pairs = evenly(list(zip(trend.visits, trend.trend_log, strict=True)), MOST_POINTS)
    rows = [{"x": visit + 0.5, "y": value, "system": trend.other} for visit, value in pairs]
    channels = {"x": scaled("x", x), "y": scaled("y", y)}
    if len(view.own.trends) > 1:
        channels["color"] = system_colours(view.run.systems)
    return marks("line", rows, channels, strokeWidth=2, strokeDash=[6, 3], color=INK)
