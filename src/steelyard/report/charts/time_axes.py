"""Axes of response times and of shares, both logarithmic, with round places."""

from __future__ import annotations

import math
from typing import Any

from steelyard.report.charts.axes import labels_at, log_axis, log_ticks
from steelyard.report.charts.vega import Spec, axis_over
from steelyard.report.figures import scale_for

_MOST_TICKS = 6


def time_channel(low_ns: float, high_ns: float, title: str, **options: Any) -> Spec:
    """Scale and axis of decimal logarithms of nanoseconds."""
    low, high = math.log10(low_ns), math.log10(high_ns)
    ticks = [tick for tick in log_ticks([low_ns, high_ns]) if low <= math.log10(tick) <= high]
    if len(ticks) > _MOST_TICKS:
        ticks = [tick for tick in ticks if math.log10(tick) % 1 == 0] or ticks
    labels = labels_at([(math.log10(tick), time_label(tick)) for tick in ticks])
    end = max(high, low + 0.01)
    return axis_over(low, end, **labels, title=log_axis(title), **options)


def share_channel(least: float, title: str) -> Spec:
    """The same of shares from all down to the least: one tick a tenfold."""
    low = math.log10(least)
    ticks = [(float(power), _share_label(power)) for power in range(math.ceil(low), 1)]
    return axis_over(low, 0.0, **labels_at(ticks), title=log_axis(title), domain=False, ticks=False)


def time_label(time_ns: float) -> str:
    """``500 µs``."""
    scale = scale_for([time_ns], "ns")
    return f"{round(time_ns / scale.divisor, 9):g} {scale.unit}"


def _share_label(power: int) -> str:
    return f"{round(10.0 ** (power + 2), 9):f}".rstrip("0").rstrip(".") + " %"
