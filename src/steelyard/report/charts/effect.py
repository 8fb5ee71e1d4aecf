"""The effect chart: every comparison of the primary response on one axis, with the margin."""

from __future__ import annotations

from typing import Any

from steelyard.inference.sequential import VerdictWord
from steelyard.judge.findings import ResponseFinding, VerdictFinding
from steelyard.report.charts import axes
from steelyard.report.charts.colours import BAND, MUTED, PAPER, system_colours
from steelyard.report.charts.drawing import Drawing, draw
from steelyard.report.charts.vega import (
    Spec,
    axis_over,
    constant,
    either,
    layered,
    marks,
    scaled,
)
from steelyard.report.effects import signed_effect
from steelyard.report.sentences.assumptions import judged
from steelyard.report.sentences.verdict import ends_of, verdict_sentence
from steelyard.report.view import View
from steelyard.report.vocabulary import ordered, primary_response, verdict_word

ROW_PX, LINE_PX = 32, 13
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
) -> Spec:
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
    return layered(layers, WIDE_PX if wide else NARROW_PX, rows_px(y))


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
        "main": verdict.conditions is None,
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


def effect_axis(low: float, high: float, title: str, most: int) -> Spec:
    """Scale and labelled axis of log ratios."""
    labels = axes.labels_at(axes.effect_ticks(low, high, most))
    return axis_over(low, high, **labels, title=title, labelFlush=False)


def row_axis(labels: list[str], most_px: int = LABEL_PX) -> Spec:
    """One row a comparison."""
    return axes.row_axis(
        labels, int(most_px / LETTER_PX), labelFontSize=12, labelLineHeight=LINE_PX, labelPadding=8
    )


def rows_px(y: Spec) -> int:
    """The height of all rows, each as high as the label of most lines needs."""
    labels: list[list[str]] = y["axis"]["labels"]
    return len(labels) * max(ROW_PX, LINE_PX * max(map(len, labels)) + 6)


def margin_band(margin_log: float, axis: Spec) -> Spec:
    """What lies within the margin."""
    rows = [{"a": -margin_log, "b": margin_log}]
    return marks("rect", rows, {"x": scaled("a", axis), "x2": "b"}, color=BAND, opacity=1)


def zero_rule(axis: Spec) -> Spec:
    """Where nothing differs."""
    return marks("rule", [{"a": 0.0}], {"x": scaled("a", axis)}, color=MUTED, strokeWidth=1)


def interval_marks(rows: list[dict[str, Any]], axis: Spec, rest: dict[str, Spec]) -> list[Spec]:
    """Of each row its interval and its estimate, larger where it is ``main``, filled if decided."""
    width = either("main", constant(3.5), constant(2))
    span = {**rest, "x": scaled("low", axis), "x2": "high", "strokeWidth": width}
    dot = {
        **rest,
        "x": scaled("x", axis),
        "fill": either("decided", rest["color"], constant(PAPER)),
        "size": either("main", constant(120), constant(70)),
        "shape": either("main", constant("diamond"), constant("circle")),
    }
    return [
        marks("rule", rows, span, strokeCap="round"),
        marks("point", rows, dot, opacity=1, strokeWidth=2),
    ]


def _marks(rows: list[dict[str, Any]], axis: Spec, y: Spec, view: View) -> list[Spec]:
    known = [row for row in rows if row["x"] is not None]
    rest = {"y": y, "color": system_colours(view.run.systems, "other")}
    spans, dots = interval_marks(known, axis, rest)
    arrows = [
        marks(
            "point",
            [row for row in known if row[f"open_{end}"]],
            {**rest, "x": scaled(end, axis)},
            shape=shape, size=60, filled=True, opacity=1,
        )
        for end, shape in (("low", "triangle-left"), ("high", "triangle-right"))
    ]  # fmt: skip
    return [spans, *arrows, dots]


def _absent(rows: list[dict[str, Any]], y: Spec) -> Spec:
    """Rows without an estimate keep their place and say so."""
    absent = [row for row in rows if row["x"] is None]
    return marks("text", absent, {"y": y, "x": constant(0)}, text="not judged", fontStyle="italic",
                 color=MUTED, align="left", dx=4)  # fmt: skip


def side_words(rows: list[dict[str, Any]], y: Spec, width_px: int) -> Spec:
    """The verdict of each row, beside it."""
    channels = {"y": y, "x": constant(width_px + 12), "text": "said"}
    return marks("text", rows, channels, align="left", baseline="middle")
