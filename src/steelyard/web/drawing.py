"""Intervals over time or visits, drawn in microseconds: a live page cannot wait for a renderer."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

from steelyard.report.charts.axes import effect_ticks

WIDTH_PX, HEIGHT_PX = 760, 230
_LEFT, _RIGHT, _TOP, _BOTTOM = 62, 14, 12, 34
_SECOND_PX = 110
_MOST_LABELS = 8
_WIDEST_LOG = math.log(100.0)


@dataclass(frozen=True)
class Spot:
    """One interval: ``x`` is its place, an end that is ``None`` is not bounded.

    ``grey``: not comparable with the others; ``decided`` spots are filled.
    """

    x: float
    label: str
    estimate_log: float | None
    low_log: float | None
    high_log: float | None
    margin_log: float
    words: str
    decided: bool = True
    grey: bool = False
    second_log: float | None = None
    link: str | None = None


@dataclass(frozen=True)
class _Scale:
    low: float
    high: float
    from_px: float
    to_px: float

    def at(self, value: float) -> float:
        share = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return self.from_px + share * (self.to_px - self.from_px)


def interval_chart(
    spots: Sequence[Spot], title: str, x_title: str, second: str | None = None
) -> Markup:
    """Intervals on an axis of ratios with the margin as a band; below it, if any, a second line.

    A screen reader reads the title and the words of each spot.
    """
    x = _across(spots)
    y = _upright(spots, _TOP, HEIGHT_PX - _BOTTOM)
    body = [_band(spots, x, y), *_ticks(y, _TOP, HEIGHT_PX - _BOTTOM)]
    body += [_spot(spot, x, y) for spot in spots if spot.estimate_log is not None]
    body += _labels(spots, x, HEIGHT_PX - _BOTTOM)
    height = HEIGHT_PX
    if second is not None and any(spot.second_log is not None for spot in spots):
        body += _second(spots, x, second)
        height += _SECOND_PX
    body.append(f'<text x="{_LEFT}" y="{HEIGHT_PX - 4}" class="minor">{escape(x_title)}</text>')
    words = "; ".join(spot.words for spot in spots)
    return Markup(  # noqa: S704 - every text was escaped
        f'<svg class="chart-line" viewBox="0 0 {WIDTH_PX} {height}" role="group" '
        f'aria-label="{escape(title)}"><title>{escape(title)}</title>'
        f"<desc>{escape(words)}</desc>{''.join(body)}</svg>"
    )


def value_chart(
    points: Sequence[tuple[float, float, int, str]], title: str, x_title: str, unit: str
) -> Markup:
    """Values over the number of the trial: place, value, place of the system, words."""
    values = [value for _, value, _, _ in points]
    top = max(values, default=1.0) or 1.0
    x = _Scale(*_ends([place for place, *_ in points]), _LEFT, WIDTH_PX - _RIGHT)
    y = _Scale(0.0, 1.08 * top, HEIGHT_PX - _BOTTOM, _TOP)
    body = []
    for share in (0.0, 0.5, 1.0):
        at = y.at(share * top)
        body.append(f'<path class="rule" d="M{_LEFT} {at:.1f}H{WIDTH_PX - _RIGHT}"/>')
        body.append(_text(_LEFT - 6, at + 4, f"{share * top:,.4g}", "end"))
    for place, value, system, words in points:
        body.append(
            f'<g class="s{system % 6}">{_shape(system, x.at(place), y.at(value))}'
            f"<title>{escape(words)}</title></g>"
        )
    body.append(_text(_LEFT, HEIGHT_PX - 4, f"{x_title}; {unit}, from 0", "start"))
    return Markup(  # noqa: S704 - every text was escaped
        f'<svg class="chart-line" viewBox="0 0 {WIDTH_PX} {HEIGHT_PX}" role="img" '
        f'aria-label="{escape(title)}"><title>{escape(title)}</title>{"".join(body)}</svg>'
    )


def _shape(system: int, x: float, y: float) -> str:
    """A shape for each system, so that colour is not the only difference."""
    if system % 3 == 1:
        return f'<path fill="currentColor" d="M{x:.1f} {y - 5:.1f}l5 9h-10z"/>'
    if system % 3 == 2:
        return f'<path fill="currentColor" d="M{x - 4:.1f} {y - 4:.1f}h8v8h-8z"/>'
    return f'<circle fill="currentColor" cx="{x:.1f}" cy="{y:.1f}" r="4.2"/>'


def _ends(places: Sequence[float]) -> tuple[float, float]:
    low, high = min(places, default=0.0), max(places, default=1.0)
    pad = 0.04 * (high - low) or 0.5
    return low - pad, high + pad


def _across(spots: Sequence[Spot]) -> _Scale:
    return _Scale(*_ends([spot.x for spot in spots]), _LEFT, WIDTH_PX - _RIGHT)


def _upright(spots: Sequence[Spot], top: float, bottom: float) -> _Scale:
    """Room for zero, the margin, and all ends, but not for what lies beyond a hundredfold."""
    ends = [0.0]
    for spot in spots:
        known = (spot.estimate_log, spot.low_log, spot.high_log)
        ends += [end for end in known if end is not None]
        ends += [1.3 * spot.margin_log, -1.3 * spot.margin_log]
    low, high = max(min(ends), -_WIDEST_LOG), min(max(ends), _WIDEST_LOG)
    pad = 0.06 * (high - low) or 0.01
    return _Scale(low - pad, high + pad, bottom, top)


def _band(spots: Sequence[Spot], x: _Scale, y: _Scale) -> str:
    """The margin of each spot, as wide as it stands from its neighbours."""
    parts = []
    for place, spot in enumerate(spots):
        left = x.from_px if place == 0 else x.at((spots[place - 1].x + spot.x) / 2)
        last = place == len(spots) - 1
        right = x.to_px if last else x.at((spots[place + 1].x + spot.x) / 2)
        top, bottom = y.at(spot.margin_log), y.at(-spot.margin_log)
        parts.append(
            f'<rect class="band" x="{left:.1f}" y="{top:.1f}" width="{right - left:.1f}" '
            f'height="{bottom - top:.1f}"/>'
        )
    return "".join(parts)


def _ticks(y: _Scale, top: float, bottom: float) -> Iterator[str]:
    for log, label in effect_ticks(y.low, y.high, 5 if bottom - top > 150 else 2):
        at = y.at(log)
        kind = "zero" if log == 0 else "rule"
        yield f'<path class="{kind}" d="M{_LEFT} {at:.1f}H{WIDTH_PX - _RIGHT}"/>'
        yield _text(_LEFT - 6, at + 4, label, "end")


def _labels(spots: Sequence[Spot], x: _Scale, bottom: float) -> Iterator[str]:
    """Not more than have room; the last one always."""
    step = max(1, math.ceil(len(spots) / _MOST_LABELS))
    for place, spot in enumerate(spots):
        if (len(spots) - 1 - place) % step == 0:
            at = x.at(spot.x)
            end = "start" if at < _LEFT + 30 else "end" if at > WIDTH_PX - 60 else "middle"
            yield _text(at, bottom + 15, spot.label, end)


def _spot(spot: Spot, x: _Scale, y: _Scale) -> str:
    at, middle = x.at(spot.x), y.at(spot.estimate_log or 0.0)
    low = y.at(y.low if spot.low_log is None else spot.low_log)
    high = y.at(y.high if spot.high_log is None else spot.high_log)
    line = f'<path d="M{at:.1f} {low:.1f}V{high:.1f}" stroke="currentColor" stroke-width="2"/>'
    for px, bound, turn in ((low, spot.low_log, -1), (high, spot.high_log, 1)):
        if bound is None:
            line += f'<path d="M{at:.1f} {px:.1f}l-4 {6 * turn}h8z" fill="currentColor"/>'
    fill = "currentColor" if spot.decided and not spot.grey else "var(--paper)"
    dot = (
        f'<circle cx="{at:.1f}" cy="{middle:.1f}" r="4.5" fill="{fill}" stroke="currentColor" '
        'stroke-width="2"/>'
    )
    group = f'<g class="{"grey" if spot.grey else "s0"}"><title>{escape(spot.words)}</title>'
    inner = f"{group}{line}{dot}</g>"
    return inner if spot.link is None else f'<a href="{escape(spot.link)}">{inner}</a>'


def _second(spots: Sequence[Spot], x: _Scale, title: str) -> Iterator[str]:
    """Another quantity over the same places, joined where it is comparable."""
    known = [spot for spot in spots if spot.second_log is not None]
    logs = [spot.second_log or 0.0 for spot in known]
    reach = max(0.02, *(abs(log) for log in logs))
    top, bottom = HEIGHT_PX + 18, HEIGHT_PX + _SECOND_PX - 8
    y = _Scale(-1.1 * reach, 1.1 * reach, bottom, top)
    yield _text(_LEFT, HEIGHT_PX + 12, title, "start")
    yield from _ticks(y, top, bottom)
    places = [f"{x.at(s.x):.1f} {y.at(s.second_log or 0.0):.1f}" for s in known]
    yield (f'<g class="s1"><path d="M{"L".join(places)}" fill="none" stroke="currentColor" '
           'stroke-width="2"/>')  # fmt: skip
    for place in places:
        px, py = place.split()
        yield f'<path d="M{px} {float(py) - 4.5:.1f}l4.5 8h-9z" fill="currentColor"/>'
    yield "</g>"


def _text(x: float, y: float, text: str, anchor: str) -> str:
    shown = escape(text)
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{shown}</text>'


def words_of(parts: Iterable[str | None]) -> str:
    """What is known, in one phrase."""
    return ", ".join(part for part in parts if part)
