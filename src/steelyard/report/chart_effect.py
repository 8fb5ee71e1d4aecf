"""The effect chart: every comparison of the primary response on one axis, with the margin."""

from __future__ import annotations

from typing import Any

import altair as alt

from steelyard.judge.findings import Findings, ResponseFinding, VerdictFinding, VerdictWord
from steelyard.plan.model import conditions_text
from steelyard.report.axes import effect_ticks, labelled_axis
from steelyard.report.drawing import (
    BAND,
    INK,
    MUTED,
    Drawing,
    draw,
    inline_data,
    system_colours,
)
from steelyard.report.effects import signed_effect
from steelyard.report.trust import judged
from steelyard.report.words import ordered, primary_response, verdict_sentence, verdict_word

ROW_PX = 30
PADDING_SHARE = 0.08
WIDE_PX, NARROW_PX = 420, 200


def effect_drawings(findings: Findings) -> list[Drawing]:
    """The chart twice, for wide and for narrow pages; empty when nothing was compared."""
    response = primary_response(findings)
    verdicts = ordered(judged(findings), findings)
    if response is None or not verdicts:
        return []
    title = f"Effect on {response.label}, relative to {findings.baseline}"
    words = " ".join(str(verdict_sentence(v, findings)) for v in verdicts)
    return [
        draw(_chart(findings, verdicts, response, wide=wide), name, title, words)
        for name, wide in (("effect-wide", True), ("effect-narrow", False))
    ]


def _chart(
    findings: Findings, verdicts: list[VerdictFinding], response: ResponseFinding, *, wide: bool
) -> alt.LayerChart:
    rows = [_row(v, findings, response) for v in verdicts]
    low, high = _domain(verdicts)
    for row in rows:
        row["low"] = low if row["low"] is None else row["low"]
        row["high"] = high if row["high"] is None else row["high"]
    axis = _x(low, high, _axis_title(response, wide=wide), most=7 if wide else 4)
    layers = [_band(verdicts, axis), _zero(axis), *_marks(rows, axis, findings)]
    if wide:
        layers.append(_side_words(rows, WIDE_PX))
    return alt.layer(*layers).properties(
        width=WIDE_PX if wide else NARROW_PX, height=ROW_PX * len(rows)
    )


def _row(verdict: VerdictFinding, findings: Findings, response: ResponseFinding) -> dict[str, Any]:
    said = verdict_word(verdict, response)
    if verdict.estimate_log is not None:
        said += f", {signed_effect(verdict.estimate_log, exact_to=(0.0,))}"
    return {
        "row": _row_label(verdict, findings),
        "other": verdict.other,
        "x": verdict.estimate_log,
        "low": verdict.low_log,
        "high": verdict.high_log,
        "open_low": verdict.estimate_log is not None and verdict.low_log is None,
        "open_high": verdict.estimate_log is not None and verdict.high_log is None,
        "said": said.replace("-", "−"),
        "decided": verdict.word not in (VerdictWord.UNDECIDED, VerdictWord.NOT_JUDGED),
        "overall": verdict.conditions is None,
    }


def _row_label(verdict: VerdictFinding, findings: Findings) -> str:
    where = "over all" if verdict.conditions is None else conditions_text(verdict.conditions)
    if len(findings.systems) <= 2:
        return where or "all trials"
    return f"{verdict.other}, {where}" if where else verdict.other


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
    middle = f"   {response.label}   " if wide else "     "
    return f"← {left}{middle}{right} →"


def _x(low: float, high: float, title: str, most: int) -> dict[str, Any]:
    ticks = effect_ticks(low, high, most)
    return {
        "scale": alt.Scale(domain=[low, high], nice=False, zero=False),
        "axis": labelled_axis(ticks, title=title, labelFlush=False),
    }


def _y() -> alt.Y:
    return alt.Y(
        "row:N",
        sort=None,
        axis=alt.Axis(title=None, domain=False, ticks=False, labelLimit=170, labelColor=INK,
                      labelFontSize=12, labelPadding=8),
    )  # fmt: skip


def _band(verdicts: list[VerdictFinding], axis: dict[str, Any]) -> alt.Chart:
    margin = max(v.margin_log for v in verdicts)
    data = inline_data([{"a": -margin, "b": margin}])
    return alt.Chart(data).mark_rect(color=BAND, opacity=1).encode(x=alt.X("a:Q", **axis), x2="b:Q")


def _zero(axis: dict[str, Any]) -> alt.Chart:
    data = inline_data([{"a": 0.0}])
    return alt.Chart(data).mark_rule(color=MUTED, strokeWidth=1).encode(x=alt.X("a:Q", **axis))


def _marks(rows: list[dict[str, Any]], axis: dict[str, Any], findings: Findings) -> list[alt.Chart]:
    known = [row for row in rows if row["x"] is not None]
    base = alt.Chart(inline_data(known)).encode(
        y=_y(), color=alt.Color("other:N", scale=system_colours(findings.systems), legend=None)
    )
    width = alt.condition("datum.overall", alt.value(3.5), alt.value(2))
    spans = base.mark_rule(strokeCap="round").encode(
        x=alt.X("low:Q", **axis), x2="high:Q", strokeWidth=width
    )
    fill = alt.condition("datum.decided", alt.Fill("other:N", scale=system_colours(
        findings.systems), legend=None), alt.value("var(--paper,#ffffff)"))  # fmt: skip
    dots = base.mark_point(size=70, opacity=1, strokeWidth=2).encode(
        x=alt.X("x:Q", **axis),
        fill=fill,
        shape=alt.condition("datum.overall", alt.value("diamond"), alt.value("circle")),
    )
    return [spans, *_arrows(base, axis), dots, _absent(rows)]


def _arrows(base: alt.Chart, axis: dict[str, Any]) -> list[alt.Chart]:
    return [
        base.transform_filter(f"datum.open_{end}")
        .mark_point(shape=shape, size=60, filled=True, opacity=1)
        .encode(x=alt.X(f"{end}:Q", **axis))
        for end, shape in (("low", "triangle-left"), ("high", "triangle-right"))
    ]


def _absent(rows: list[dict[str, Any]]) -> alt.Chart:
    """Rows without an estimate keep their place and say so."""
    absent = [row for row in rows if row["x"] is None]
    return (
        alt.Chart(inline_data(absent))
        .mark_text(text="not judged", fontStyle="italic", color=MUTED, align="left", dx=4)
        .encode(y=_y(), x=alt.value(0))
    )


def _side_words(rows: list[dict[str, Any]], width_px: int) -> alt.Chart:
    return (
        alt.Chart(inline_data(rows))
        .mark_text(align="left", baseline="middle")
        .encode(y=_y(), x=alt.value(width_px + 12), text="said:N")
    )
