"""From values to pixels, round values along an axis, and how they are written."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from steelyard.report.charts.vega import Spec

_NICE_TICKS = 10


@dataclass(frozen=True)
class Scale:
    """Values from ``low`` to ``high`` stand from ``begin_px`` to ``end_px``."""

    low: float
    high: float
    begin_px: float
    end_px: float
    log: bool = False
    clamp: bool = False

    def at(self, value: Any) -> float:
        """The pixel of a value."""
        low, high, value = map(math.log if self.log else float, (self.low, self.high, value))
        share = (value - low) / (high - low) if high != low else 0.5
        if self.clamp:
            share = min(1.0, max(0.0, share))
        return self.begin_px + share * (self.end_px - self.begin_px)


@dataclass(frozen=True)
class Rows:
    """Names one below the other, each with as much room."""

    names: tuple[str, ...]
    height_px: float

    def at(self, name: Any) -> float:
        """The middle of a row."""
        return self.height_px / len(self.names) * (self.names.index(name) + 0.5)


def scale_of(
    channels: Sequence[Spec], values: Sequence[Any], begin_px: float, end_px: float
) -> Scale | Rows:
    """That of the channels of all layers on one side, whose fields hold these values."""
    if channels[0]["type"] == "nominal":
        return Rows(tuple(sorted(set(values))), begin_px or end_px)
    asked: Spec = next((c["scale"] for c in channels if "scale" in c), {})
    low, high = asked["domain"] if "domain" in asked else _rounded(0.0, max(values, default=1.0))
    log = asked.get("type") == "log"
    return Scale(low, high, begin_px, end_px, log=log, clamp=asked.get("clamp", False))


def _rounded(low: float, high: float) -> tuple[float, float]:
    """Widened to round values."""
    step = _step(low, high, _NICE_TICKS)
    return math.floor(low / step) * step, math.ceil(high / step - 1e-9) * step


def _step(low: float, high: float, count: int) -> float:
    rough = (high - low) / max(1, count)
    power = 10.0 ** math.floor(math.log10(rough)) if rough > 0 else 1.0
    error = rough / power
    least = ((math.sqrt(50), 10), (math.sqrt(10), 5), (math.sqrt(2), 2))
    return next((factor for bound, factor in least if error >= bound), 1) * power


def ticks(low: float, high: float, count: int, least_step: float = 0) -> list[float]:
    """About so many round values."""
    if high <= low:
        return [low]
    if least_step:
        count = max(1, min(count, math.floor((high - low) / least_step)))
    step = _step(low, high, count)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    if last < first and count < 2:
        return ticks(low, high, count * 2)
    return [k * step if step >= 1 else k / round(1 / step) for k in range(first, last + 1)]


def _six_digits(value: float, grouped: str = "") -> str:
    text = format(float(f"{value:.6g}"), f"{grouped}.10f")
    return text.rstrip("0").rstrip(".")


def _short(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"


WRITTEN: dict[str, Callable[[float], str]] = {
    "d": lambda value: f"{round(value)}",
    "~r": _six_digits,
    ",~r": lambda value: _six_digits(value, ","),
    "short": _short,
}
"""By the name of a format: that of Vega-Lite, or for values of any size."""


def written(value: float, form: str | None, step: float) -> str:
    """A value on an axis; without a form with the decimals that its step has."""
    if form is not None:
        text = WRITTEN[form](value)
    else:
        text = f"{value:,.{max(0, -math.floor(math.log10(step) + 1e-9))}f}"
    return "0" if text == "-0" else text.replace("-", "−")
