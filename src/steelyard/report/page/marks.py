"""The effect plot of the first screen: one small drawing for each row of a table, on one axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from steelyard.report.charts.axes import effect_ticks
from steelyard.report.page.render import typeset
from steelyard.report.tables.effect_rows import EffectRows, Mark

WIDTH_PX, HEIGHT_PX = 150, 28
_AXIS_PX = 34
_PADDING_SHARE = 0.06
_MOST_TICKS = 3
_INSET_PX = 8.0
_LETTER_PX = 7.2


@dataclass(frozen=True)
class Axis:
    """Logarithms of ratios on so many pixels."""

    low_log: float
    high_log: float

    def x(self, log: float) -> float:
        """Where it stands; what lies beyond stands at the end."""
        span = self.high_log - self.low_log
        share = (min(max(log, self.low_log), self.high_log) - self.low_log) / span
        return _INSET_PX + share * (WIDTH_PX - 2 * _INSET_PX)


def axis_of(marks: Sequence[Mark]) -> Axis:
    """Room for every interval, the margin and nothing."""
    ends = [0.0]
    for mark in marks:
        known = (mark.low_log, mark.high_log, mark.estimate_log)
        ends += [end for end in known if end is not None]
        ends += [1.5 * mark.margin_log, -1.5 * mark.margin_log]
    pad = _PADDING_SHARE * (max(ends) - min(ends)) or 0.01
    return Axis(min(ends) - pad, max(ends) + pad)


def row_drawing(mark: Mark, axis: Axis, words: str) -> Markup:
    """Margin, nothing, interval and estimate of one row; ``words`` are shown on it by a pointer."""
    band = (
        f'<rect class="band" x="{axis.x(-mark.margin_log):.1f}" y="0" height="{HEIGHT_PX}" '
        f'width="{axis.x(mark.margin_log) - axis.x(-mark.margin_log):.1f}"/>'
    )
    zero = f'<path class="zero" d="M{axis.x(0.0):.1f} 0V{HEIGHT_PX}"/>'
    inner = "" if mark.estimate_log is None else _span(mark, axis) + _dot(mark, axis)
    group = Markup('<g class="s{}"><title>{}</title>{}</g>').format(
        mark.system % 6,
        words,
        Markup(inner),  # noqa: S704 - figures only
    )
    return _svg(HEIGHT_PX, Markup(band + zero) + group)  # noqa: S704 - figures only


def axis_drawing(axis: Axis, direction: tuple[str, str]) -> Markup:
    """Ticks in percent or times, and what left and right mean."""
    parts = []
    for log, label in _apart(effect_ticks(axis.low_log, axis.high_log, _MOST_TICKS), axis):
        x = axis.x(log)
        end = _anchor(x)
        parts.append(
            f'<path class="zero" d="M{x:.1f} 0v4"/>'
            f'<text x="{x:.1f}" y="15" text-anchor="{end}">{label}</text>'
        )
    zero, (left, right) = axis.x(0.0), direction
    parts += _sides(zero, left, right)
    return _svg(_AXIS_PX, Markup("".join(parts)))  # noqa: S704 - our own words and figures


def _anchor(x: float) -> str:
    return "start" if x < 20 else "end" if x > WIDTH_PX - 20 else "middle"


def _apart(ticks: list[tuple[float, str]], axis: Axis) -> list[tuple[float, str]]:
    """Those whose labels do not touch, from nothing outwards."""
    kept: list[tuple[float, str]] = []
    taken: list[tuple[float, float]] = []
    for log, label in sorted(ticks, key=lambda tick: abs(tick[0])):
        width, x = _LETTER_PX * len(label), axis.x(log)
        begin = x - {"start": 0.0, "middle": 0.5, "end": 1.0}[_anchor(x)] * width
        if all(begin > last + 4 or begin + width < first - 4 for first, last in taken):
            kept.append((log, label))
            taken.append((begin, begin + width))
    return kept


def _sides(zero: float, left: str, right: str) -> list[str]:
    """Beside nothing, each where there is room for it."""
    room = 52
    found = []
    if zero > room:
        found.append(f'<text x="{zero - 4:.1f}" y="30" text-anchor="end">◂ {left}</text>')
    if WIDTH_PX - zero > room:
        found.append(f'<text x="{zero + 4:.1f}" y="30">{right} ▸</text>')
    return found


def _span(mark: Mark, axis: Axis) -> str:
    low = axis.low_log if mark.low_log is None else mark.low_log
    high = axis.high_log if mark.high_log is None else mark.high_log
    y = HEIGHT_PX / 2
    width = 3.5 if mark.whole else 2
    line = (
        f'<path d="M{axis.x(low):.1f} {y}H{axis.x(high):.1f}" stroke="currentColor" '
        f'stroke-width="{width}"/>'
    )
    for end, bound, turn in ((low, mark.low_log, -1), (high, mark.high_log, 1)):
        if bound is None:
            line += (
                f'<path d="M{axis.x(end) + 6 * turn:.1f} {y}l{-6 * turn} -4v8z" '
                'fill="currentColor"/>'
            )
    return line


def _dot(mark: Mark, axis: Axis) -> str:
    x, y = axis.x(mark.estimate_log or 0.0), HEIGHT_PX / 2
    fill = "currentColor" if mark.decided else "var(--paper)"
    paint = f'fill="{fill}" stroke="currentColor" stroke-width="2"'
    if mark.whole:
        return f'<path d="M{x:.1f} {y - 6.5}l6.5 6.5l-6.5 6.5l-6.5-6.5z" {paint}/>'
    return f'<circle cx="{x:.1f}" cy="{y}" r="4.5" {paint}/>'


def _svg(height_px: int, inner: Markup) -> Markup:
    """Hidden from screen readers: the cells of the row say the same."""
    return Markup(
        '<svg class="mark" viewBox="0 0 {0} {1}" width="{0}" height="{1}" aria-hidden="true">'
        "{2}</svg>"
    ).format(WIDTH_PX, height_px, inner)


def drawn_rows(table: EffectRows) -> tuple[list[Markup], Markup]:
    """A drawing for each row, and their common axis."""
    axis = axis_of([row.mark for row in table.rows])
    words = [typeset(", ".join(cell for cell in row.cells if cell != "–")) for row in table.rows]
    rows = [row_drawing(row.mark, axis, said) for row, said in zip(table.rows, words, strict=True)]
    return rows, axis_drawing(axis, table.direction)
