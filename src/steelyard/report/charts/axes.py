"""Axes that speak the language of the sentences: effects in percent or times, levels as levels."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

from steelyard.report.charts.colours import INK
from steelyard.report.charts.vega import Spec

_PERCENT_STEPS = (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50)
_DECADES = tuple(10.0**power for power in range(-6, 7))
_RATIOS_BY_SPAN = (
    (math.log(6), (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 1, 1.2, 1.5, 2, 2.5, 3, 4, 5)),
    (math.log(200), (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100)),
    (math.inf, _DECADES),
)
WIDE_LOG = math.log(1.6)
LOG_AXIS_FROM = 20.0


def effect_ticks(low_log: float, high_log: float, most: int = 7) -> list[tuple[float, str]]:
    """Places and labels on an axis of log ratios, zero always among them when in the range."""
    if max(-low_log, high_log) > WIDE_LOG:
        span = high_log - low_log
        ratios = next(found for most_span, found in _RATIOS_BY_SPAN if span <= most_span)
        ticks = [(math.log(r), ratio_label(r)) for r in ratios]
        return _apart([t for t in ticks if low_log <= t[0] <= high_log], span / (most + 1))
    span = 100 * (math.exp(high_log) - math.exp(low_log))
    step = next((s for s in _PERCENT_STEPS if span / s <= most), _PERCENT_STEPS[-1])
    first = math.ceil(100 * math.expm1(low_log) / step)
    last = math.floor(100 * math.expm1(high_log) / step)
    return [(math.log1p(k * step / 100), percent_label(k * step)) for k in range(first, last + 1)]


def _apart(ticks: list[tuple[float, str]], least: float) -> list[tuple[float, str]]:
    """Drop ticks that stand too close, going outwards from zero, which stays."""
    kept: list[tuple[float, str]] = []
    for tick in sorted(ticks, key=lambda t: abs(t[0])):
        if all(abs(tick[0] - other[0]) >= least for other in kept):
            kept.append(tick)
    return sorted(kept)


def percent_label(percent: float) -> str:
    """A signed percent for an axis: ``+5 %``."""
    shown = round(percent, 2)
    return "0 %" if shown == 0 else f"{shown:+g} %".replace("-", "−")


def ratio_label(ratio: float) -> str:
    """A ratio for an axis: ``−80 %``, ``0 %``, ``5 times``."""
    return f"{ratio:g} times" if ratio >= 2 else percent_label(100 * (ratio - 1))


def labels_at(ticks: Sequence[tuple[float | str, str]], wrap_at: int | None = None) -> Spec:
    """Of an axis: exactly these labels at exactly these places, wrapped at so many letters."""
    return {
        "values": [value for value, _ in ticks],
        "labels": [label_lines(label, wrap_at) for _, label in ticks],
    }


def row_axis(labels: Sequence[str], wrap_at: int, **options: Any) -> Spec:
    """A channel of rows, which are keyed by number so that equal labels stay apart."""
    rows = labels_at([(f"{n:03d}", label) for n, label in enumerate(labels)], wrap_at)
    axis = {"title": None, "domain": False, "ticks": False, "labelLimit": 0, **rows}
    return {"field": "row", "type": "nominal", "axis": {**axis, "labelColor": INK, **options}}


def label_lines(label: str, wrap_at: int | None) -> list[str]:
    """A label as lines of which none is cut."""
    return [label] if wrap_at is None else wrapped(label, wrap_at)


def wrapped(text: str, most: int) -> list[str]:
    """Lines of at most so many letters, broken at spaces, else behind a dot, dash or slash."""
    lines: list[str] = []
    for word in re.findall(r"\S+", text):
        for place, part in enumerate(_parts(word, most)):
            glue = "" if place else " "
            if lines and len(lines[-1]) + len(glue) + len(part) <= most:
                lines[-1] += glue + part
            else:
                lines.append(part)
    return lines or [""]


def _parts(word: str, most: int) -> list[str]:
    """A word that is too long in pieces."""
    if len(word) <= most:
        return [word]
    pieces = re.findall(r".+?(?:[./_,;:-]+|$)", word)
    return [p[i : i + most] for p in pieces for i in range(0, len(p), most)]


def log_axis(title: str) -> str:
    """The title of an axis whose equal steps are equal ratios."""
    return f"{title} (log scale)"


def level_axis(factor: str, *, wide: bool) -> str:
    """The title of an axis of the levels of a factor; users and threads are counted."""
    name = factor.removeprefix("load.")
    title = f"{name}, /s" if factor == "load.rate" else name
    return log_axis(title) if wide else title


def value_scale(values: Sequence[float], *, may_be_log: bool) -> Spec:
    """From zero, or logarithmic when the values span much and none is zero."""
    low, high = min(values, default=0.0), max(values, default=1.0)
    if may_be_log and is_logarithmic(values):
        return {"type": "log", "domain": [low / 1.25, high * 1.25], "nice": False}
    return {"domain": [min(low, 0.0), high * 1.06 if high > 0 else 1.0], "nice": False}


def log_ticks(values: Sequence[float]) -> list[float]:
    """Round places for a logarithmic axis: 1, 2, 5, or decades where there are many."""
    low, high = min(values) / 1.25, max(values) * 1.25
    steps = (1, 2, 5) if high / low < 300 else (1,)
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    found = [step * 10.0**power for power in powers for step in steps]
    return [tick for tick in found if low <= tick <= high]


def is_logarithmic(values: Sequence[float]) -> bool:
    """Whether positive values span so much that equal steps would hide the small ones."""
    return bool(values) and min(values) > 0 and max(values) / min(values) > LOG_AXIS_FROM


def is_numeric(levels: Sequence[object]) -> bool:
    """Whether levels can stand on a numeric axis."""
    return all(isinstance(v, int | float) and not isinstance(v, bool) for v in levels)
