"""The effect chart: every comparison of the primary response on one axis, with the margin."""

from __future__ import annotations

from typing import Any

import altair as alt

from steelyard.inference.sequential import VerdictWord
from steelyard.judge.findings import ResponseFinding, VerdictFinding
from steelyard.report.charts.axes import effect_ticks, label_lines, labelled_axis
from steelyard.report.charts.drawing import (
    BAND,
    INK,
    MUTED,
    Drawing,
    Layer,
    draw,
    inline_data,
    system_colours,
)
from steelyard.report.effects import signed_effect
from steelyard.report.sentences.assumptions import judged
from steelyard.report.sentences.verdict import ends_of, verdict_sentence
from steelyard.report.view import View
from steelyard.report.vocabulary import ordered, primary_response, verdict_word

ROW_PX = 32
PADDING_SHARE = 0.08
EM_SPACE = "\u2003"
WIDE_PX, NARROW_PX = 560, 200
LABEL_PX = 190
LETTER_PX = 6.6


def effect_drawings(view: View) -> list[Drawing]:
    """The chart twice, for wide and for narrow pages; empty when nothing was compared."""
    response = primary_response(view)
    verdicts = ordered(judged(view), view)
    if response is None or not verdicts:
        return []
    title = f"Effect on {response.label}, relative to {view.run.baseline}"
    words = " ".join(str(verdict_sentence(v, view)) for v in verdicts)
    return [
        draw(_chart(view, verdicts, response, wide=wide), name, title, words)
        for name, wide in (("effect-wide", True), ("effect-narrow", False))
    ]


def _chart(
    view: View, verdicts: list[VerdictFinding], response: ResponseFinding, *, wide: bool
) -> Layer:
    rows = [_row(v, response, number) for number, v in enumerate(verdicts)]
    y = row_axis([_row_label(v, view) for v in verdicts])
    low, high = _domain(verdicts)
    for row in rows:
        row["low"] = low if row["low"] is None else row["low"]
        row["high"] = high if row["high"] is None else row["high"]
    axis = effect_axis(low, high, _axis_title(response, wide=wide), most=7 if wide else 3)
    layers = [
        margin_band(max(v.margin_log for v in verdicts), axis),
        zero_rule(axis),
        *_marks(rows, axis, y, view),
    ]
    layers.append(side_words(rows, y, WIDE_PX) if wide else _absent(rows, y))
    return alt.layer(*layers).properties(
        width=WIDE_PX if wide else NARROW_PX, height=ROW_PX * len(rows)
    )


def _row(verdict: VerdictFinding, response: ResponseFinding, number: int) -> dict[str, Any]:
    said = verdict_word(verdict, response)
    low_log, high_log = ends_of(verdict)
    if verdict.estimate_log is not None:
        said += f", {signed_effect(verdict.estimate_log, beside=(low_log, high_log))}"
    return {
        "row": f"{number:03d}",
        "other": verdict.other,
        "x": verdict.estimate_log,
        "low": low_log,
        "high": high_log,
        "open_low": verdict.estimate_log is not None and low_log is None,
        "open_high": verdict.estimate_log is not None and high_log is None,
        "said": said.replace("-", "−"),
        "decided": verdict.word not in (VerdictWord.UNDECIDED, VerdictWord.NOT_JUDGED),
        "overall": verdict.conditions is None,
    }


def _row_label(verdict: VerdictFinding, view: View) -> str:
    where = (
        "over all" if verdict.conditions is None else view.run.labels.conditions(verdict.conditions)
    )
    if len(view.run.systems) <= 2:
        return where or "all trials"
    name = verdict.other
    if verdict.baseline != view.run.baseline:
        name += f" / {verdict.baseline}"
    return f"{name}, {where}" if where else name


def _domain(verdicts: list[VerdictFinding]) -> tuple[float, float]:
    ends = [0.0]
    for verdict in verdicts:
        known = (verdict.low_log, verdict.high_log, verdict.estimate_log)
        ends += [end for end in known if end is not None]
        ends += [1.5 * verdict.margin_log, -1.5 * verdict.margin_log]
    pad = PADDING_SHARE * (max(ends) - min(ends))
    return min(ends) - pad, max(ends) + pad


def _axis_title(response: ResponseFinding, *, wide: bool) -> str:
    good, bad = ("faster", "slower") if response.direction == "higher" else ("slower", "faster")
    left, right = ("less", "more") if response.direction == "none" else (bad, good)
    middle = f"{response.label}{EM_SPACE}" if wide else ""
    return f"← {left}{EM_SPACE}{middle}{right} →"


def effect_axis(low: float, high: float, title: str, most: int) -> dict[str, Any]:
    """Scale and labelled axis of log ratios, as arguments of a channel."""
    ticks = effect_ticks(low, high, most)
    return {
        "scale": alt.Scale(domain=[low, high], nice=False, zero=False),
        "axis": labelled_axis(ticks, title=title, labelFlush=False),
    }


def row_axis(labels: list[str], most_px: int = LABEL_PX) -> alt.Y:
    """One row per comparison, keyed by number so that equal labels stay apart."""
    text = "''"
    for number, label in enumerate(labels):
        lines = label_lines(label, int(most_px / LETTER_PX))
        text = f"datum.value == '{number:03d}' ? {lines} : {text}"
    axis = alt.Axis(
        title=None,
        domain=False,
        ticks=False,
        labelLimit=0,
        labelColor=INK,
        labelFontSize=12,
        labelLineHeight=13,
        labelPadding=8,
        labelExpr=text,
    )
    return alt.Y("row:N", axis=axis)


def margin_band(margin_log: float, axis: dict[str, Any]) -> Layer:
    """What lies within the margin."""
    data = inline_data([{"a": -margin_log, "b": margin_log}])
    return alt.Chart(data).mark_rect(color=BAND, opacity=1).encode(x=alt.X("a:Q", **axis), x2="b:Q")


def zero_rule(axis: dict[str, Any]) -> Layer:
    """Where nothing differs."""
    data = inline_data([{"a": 0.0}])
    return alt.Chart(data).mark_rule(color=MUTED, strokeWidth=1).encode(x=alt.X("a:Q", **axis))


def _marks(rows: list[dict[str, Any]], axis: dict[str, Any], y: alt.Y, view: View) -> list[Layer]:
    known = [row for row in rows if row["x"] is not None]
    base = alt.Chart(inline_data(known)).encode(
        y=y, color=alt.Color("other:N", scale=system_colours(view.run.systems), legend=None)
    )
    width = alt.condition("datum.overall", alt.value(3.5), alt.value(2))
    spans = base.mark_rule(strokeCap="round").encode(
        x=alt.X("low:Q", **axis), x2="high:Q", strokeWidth=width
    )
    fill = alt.condition("datum.decided", alt.Fill("other:N", scale=system_colours(
        view.run.systems), legend=None), alt.value("var(--paper,#ffffff)"))  # fmt: skip
    dots = base.mark_point(opacity=1, strokeWidth=2).encode(
        x=alt.X("x:Q", **axis),
        fill=fill,
        size=alt.condition("datum.overall", alt.value(120), alt.value(70)),
        shape=alt.condition("datum.overall", alt.value("diamond"), alt.value("circle")),
    )
    return [spans, *_arrows(base, axis), dots]


def _arrows(base: Layer, axis: dict[str, Any]) -> list[Layer]:
    return [
        base.transform_filter(f"datum.open_{end}")
        .mark_point(shape=shape, size=60, filled=True, opacity=1)
        .encode(x=alt.X(f"{end}:Q", **axis))
        for end, shape in (("low", "triangle-left"), ("high", "triangle-right"))
    ]


def _absent(rows: list[dict[str, Any]], y: alt.Y) -> Layer:
    """Rows without an estimate keep their place and say so."""
    absent = [row for row in rows if row["x"] is None]
    return (
        alt.Chart(inline_data(absent))
        .mark_text(text="not judged", fontStyle="italic", color=MUTED, align="left", dx=4)
        .encode(y=y, x=alt.value(0))
    )


def side_words(rows: list[dict[str, Any]], y: alt.Y, width_px: int) -> Layer:
    """The verdict of each row, beside it."""
    return (
        alt.Chart(inline_data(rows))
        .mark_text(align="left", baseline="middle")
        .encode(y=y, x=alt.value(width_px + 12), text="said:N")
    )
