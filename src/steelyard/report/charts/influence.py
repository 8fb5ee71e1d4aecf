"""Effects of factors on one axis with the margin, and the pairs that act together as lines."""

from __future__ import annotations

from typing import Any

from steelyard.judge.analyses.factors.findings import (
    EffectFinding,
    EffectWord,
    InfluenceFinding,
    PairFinding,
)
from steelyard.judge.findings import ResponseFinding
from steelyard.report.charts.axes import labels_at, value_scale
from steelyard.report.charts.colours import colour_of, system_colours, system_shapes
from steelyard.report.charts.drawing import Drawing, Figures, draw
from steelyard.report.charts.effect import (
    EM_SPACE,
    NARROW_PX,
    WIDE_PX,
    effect_axis,
    interval_marks,
    margin_band,
    row_axis,
    rows_px,
    side_words,
    zero_rule,
)
from steelyard.report.charts.vega import (
    Spec,
    axis_over,
    constant,
    layered,
    marks,
    scaled,
)
from steelyard.report.effects import signed_effect
from steelyard.report.figures import Scale, quantity, scale_for
from steelyard.report.sentences.influence import (
    PAIR,
    effect_sentence,
    effects_of,
    name_of,
    pair_of,
)
from steelyard.report.view import View
from steelyard.report.vocabulary import response_of
from steelyard.study.labels import Labels

MOST_ROWS, MOST_PAIRS = 16, 6
PADDING_SHARE = 0.08
PAIR_WIDTH_PX, PAIR_HEIGHT_PX = 240, 170
LABEL_PX = 300
_LEGEND = {
    "title": None, "orient": "bottom", "labelLimit": 240, "labelFontSize": 11,
}  # fmt: skip


def influence_drawings(view: View) -> list[Drawing]:
    """For each set of factors the chart of effects, for wide and for narrow pages."""
    found: list[Drawing] = []
    for number, each in enumerate(view.own.influence):
        rows = _shown(each)
        if rows:
            response = response_of(view, each.response)
            title = f"Effects on {response.label}"
            words = " ".join(effect_sentence(row, each, response, view.run.labels) for row in rows)
            for size, wide in (("wide", True), ("narrow", False)):
                chart = _chart(each, rows, response, view.run.labels, wide=wide)
                found.append(draw(chart, f"influence-{number}-{size}", title, words))
    return found


def pair_drawings(view: View) -> list[Drawing]:
    """Each pair of factors that acts together: a line for each level of the second."""
    found: list[Drawing] = []
    for each in view.own.influence:
        response = response_of(view, each.response)
        there = effects_of(each, EffectWord.INFLUENTIAL)
        names = dict.fromkeys(e.factors for e in there if len(e.factors) == PAIR)
        pairs = [pair for name in list(names)[:MOST_PAIRS] if (pair := pair_of(each, *name))]
        found += [
            _pair(pair, response, view.run.labels, len(found) + i) for i, pair in enumerate(pairs)
        ]
    return found


def _shown(found: InfluenceFinding) -> list[EffectFinding]:
    """Main effects, then the largest of the others."""
    known = [each for each in found.effects if each.effect_log is not None]
    mains = [each for each in known if len(each.factors) == 1]
    others = sorted(
        (each for each in known if len(each.factors) > 1),
        key=lambda each: (each.word is not EffectWord.INFLUENTIAL, -abs(each.effect_log or 0.0)),
    )
    return [*mains, *others][: max(MOST_ROWS, len(mains))]


def _chart(
    found: InfluenceFinding,
    rows: list[EffectFinding],
    response: ResponseFinding,
    labels: Labels,
    *,
    wide: bool,
) -> Spec:
    low, high = _domain(found, rows)
    data = [_row(each, number, low, high) for number, each in enumerate(rows)]
    y = row_axis(
        [_label(each, found, labels) for each in rows], LABEL_PX if wide else LABEL_PX // 2
    )
    middle = response.label if wide else ""
    title = f"← less{EM_SPACE}{middle}{EM_SPACE}more →"
    axis = effect_axis(low, high, title, most=7 if wide else 3)
    intervals = interval_marks(data, axis, {"y": y, "color": constant(colour_of(0))})
    layers = [margin_band(found.margin_log, axis), zero_rule(axis), *intervals]
    if wide:
        layers.append(side_words(data, y, WIDE_PX))
    return layered(layers, WIDE_PX if wide else NARROW_PX, rows_px(y))


def _label(each: EffectFinding, found: InfluenceFinding, labels: Labels) -> str:
    """With the level of a single factor, and of each that has more than two."""
    single = len(each.factors) == 1
    return name_of(
        f"{name}, {labels.level(level, name)}"
        if single or len(found.factors[name]) > PAIR
        else name
        for name, level in zip(each.factors, each.levels, strict=True)
    )


def _row(each: EffectFinding, number: int, low: float, high: float) -> dict[str, Any]:
    ends = (each.low_log, each.high_log)
    if each.word is EffectWord.NEGLIGIBLE:
        ends = (each.equivalence_low_log, each.equivalence_high_log)
    size = signed_effect(each.effect_log or 0.0, beside=ends)
    return {
        "row": f"{number:03d}",
        "x": each.effect_log,
        "low": low if ends[0] is None else ends[0],
        "high": high if ends[1] is None else ends[1],
        "said": f"{each.word.value}, {size}".replace("-", "−"),
        "decided": each.word in (EffectWord.INFLUENTIAL, EffectWord.NEGLIGIBLE),
        "main": len(each.factors) == 1,
    }


def _domain(found: InfluenceFinding, rows: list[EffectFinding]) -> tuple[float, float]:
    ends = [0.0, 1.5 * found.margin_log, -1.5 * found.margin_log]
    for each in rows:
        known = (each.effect_log, each.low_log, each.high_log)
        ends += [end for end in known if end is not None]
    pad = PADDING_SHARE * (max(ends) - min(ends))
    return min(ends) - pad, max(ends) + pad


def _pair(pair: PairFinding, response: ResponseFinding, labels: Labels, number: int) -> Drawing:
    known = [mean for row in pair.means for mean in row if mean is not None]
    scale = scale_for(known, response.unit)
    unit = f", {scale.unit}" if scale.unit else ""
    title = f"{response.label}{unit}: {name_of(pair.factors)}"
    words = _words(pair, response, labels)
    figures = _figures(pair, response, labels)
    return draw(_lines(pair, scale, labels), f"pair-{number}", title, words, figures)


def _figures(pair: PairFinding, response: ResponseFinding, labels: Labels) -> Figures:
    one, other = pair.factors
    rows = tuple(
        (labels.level(first, one), labels.level(second, other), mean)
        for first, means in zip(pair.first_levels, pair.means, strict=True)
        for second, mean in zip(pair.second_levels, means, strict=True)
    )
    return Figures((one, other, f"geometric mean, {response.unit or 'no unit'}"), rows)


def _words(pair: PairFinding, response: ResponseFinding, labels: Labels) -> str:
    one, other = pair.factors
    said = [
        f"{one} {labels.level(first, one)}, {other} {labels.level(second, other)}: "
        f"{'not measured' if mean is None else quantity(mean, response.unit)}"
        for first, means in zip(pair.first_levels, pair.means, strict=True)
        for second, mean in zip(pair.second_levels, means, strict=True)
    ]
    return "; ".join(said) + "."


def _lines(pair: PairFinding, scale: Scale, labels: Labels) -> Spec:
    first, second = pair.factors
    levels = [f"{second} {labels.level(level, second)}" for level in pair.second_levels]
    known = [mean / scale.divisor for row in pair.means for mean in row if mean is not None]
    rows = [
        {"x": float(i), "y": mean / scale.divisor, "level": levels[j]}
        for i, means in enumerate(pair.means)
        for j, mean in enumerate(means)
        if mean is not None
    ]
    last = len(pair.first_levels) - 1
    ticks = [(float(i), labels.level(level, first)) for i, level in enumerate(pair.first_levels)]
    y_axis = {"title": None, "tickCount": 4}
    base = {
        "x": scaled("x", axis_over(-0.3, last + 0.3, **labels_at(ticks), title=first, grid=False)),
        "y": scaled("y", {"scale": value_scale(known, may_be_log=False), "axis": y_axis}),
        "color": system_colours(levels, "level", _LEGEND),
    }
    dots = {**base, "shape": system_shapes(levels, "level", _LEGEND)}
    layers = [
        marks("line", rows, base, strokeWidth=2),
        marks("point", rows, dots, filled=True, opacity=1, size=70),
    ]
    return layered(layers, PAIR_WIDTH_PX, PAIR_HEIGHT_PX)
