"""The two axes of a plot: grid, ticks, labels of which none covers another, and a title."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

from steelyard.report.charts.colours import MUTED, RULE
from steelyard.report.charts.svg.markup import Box, Painted, number, tag
from steelyard.report.charts.svg.scale import Rows, Scale, ticks, written
from steelyard.report.charts.svg.words import DROPS, Text, cut
from steelyard.report.charts.vega import Spec

TICK_PX, TEXT_PX, LINE_PX = 5, 11, 13
LABEL_GAP_PX, TITLE_GAP_PX = 2, 12  # the title beside labels of a wider font
_MOST_LABEL_PX = 180
_FLUSH_PX = 1
_PX_A_TICK = 40


@dataclass(frozen=True)
class Axis:
    """One side of a plot of a width and height. ``down``: it is that of the rows, at the left."""

    spec: Spec
    scale: Scale | Rows
    width_px: float
    height_px: float
    down: bool

    @cached_property
    def values(self) -> Sequence[float | str]:
        """What has a tick."""
        if isinstance(self.scale, Rows):
            return self.scale.names
        low, high = self.scale.low, self.scale.high
        fixed = self.spec.get("values")
        if fixed is None:
            count = self.spec.get("tickCount", math.ceil(self.width_px / _PX_A_TICK))
            return ticks(low, high, count, self.spec.get("tickMinStep", 0))
        return [value for value in fixed if low - 1e-9 <= value <= high + 1e-9]

    def grid(self) -> str:
        """Lines across the plot at round values; rows have none."""
        if isinstance(self.scale, Rows) or not self.spec.get("grid", True):
            return ""
        return self._lines(self.width_px if self.down else -self.height_px, RULE)

    def _lines(self, length_px: float, colour: str) -> str:
        """One path for all ticks: from the axis so far to the right, or down."""
        if self.down:
            steps = (f"M0.5,{self._sharp(v)}h{number(length_px)}" for v in self.values)
        else:
            begin = number(self.height_px + 0.5)
            steps = (f"M{self._sharp(v)},{begin}v{number(length_px)}" for v in self.values)
        path = "".join(steps)
        return tag("path", {"d": path, "stroke": colour}) if path else ""

    def _sharp(self, value: float | str) -> str:
        """In the middle of a pixel, so that the line is as sharp as others."""
        return number(int(self.scale.at(value) + 0.5) + 0.5)

    def painted(self) -> Painted:
        """All but the grid, which lies below the marks of other axes."""
        lines = ""
        if self.spec.get("ticks", True):
            lines += self._lines(-TICK_PX if self.down else TICK_PX, MUTED)
        if self.spec.get("domain", True):
            path = f"M0.5,0.5v{number(self.height_px)}" if self.down else (
                f"M0.5,{number(self.height_px + 0.5)}h{number(self.width_px)}")  # fmt: skip
            lines += tag("path", {"d": path, "stroke": MUTED})
        labels = self._apart(self._labels())
        title = self._title([text.box() for text in labels])
        texts = [*labels, *([] if title is None else [title])]
        markup = lines + "".join(text.markup() for text in texts)
        return Painted(markup, tuple(text.box() for text in texts))

    def _labels(self) -> list[Text]:
        values = self.values
        names = self.spec.get("labels")
        if names is None and isinstance(self.scale, Scale):
            step = abs(values[1] - values[0]) if len(values) > 1 else 1.0  # type: ignore[operator]
            form = self.spec.get("format")
            return [self._label(v, [written(float(v), form, step)]) for v in values]
        known = dict(zip(self.spec.get("values", values), names or (), strict=False))
        return [self._label(value, known.get(value, [""])) for value in values]

    def _label(self, value: float | str, lines: Sequence[str]) -> Text:
        size_px = self.spec.get("labelFontSize", TEXT_PX)
        limit_px = self.spec.get("labelLimit", _MOST_LABEL_PX)
        shown = tuple(cut(line, size_px, limit_px) for line in lines)
        gap_px = self.spec.get("labelPadding", LABEL_GAP_PX)
        gap_px += TICK_PX if self.spec.get("ticks", True) else 0
        at, look = self.scale.at(value), self._look(size_px)
        if not self.down:
            drop_px = round(DROPS["top"] * size_px)
            align, angle = self._align(at), self.spec.get("labelAngle", 0)
            return Text(at, self.height_px + gap_px, shown, align=align, angle=angle,
                        drop_px=drop_px, **look)  # fmt: skip
        middle_px = round(DROPS["middle"] * size_px) - look["line_px"] * (len(shown) - 1) / 2
        return Text(-gap_px, at + middle_px, shown, align="right", **look)

    def _look(self, size_px: float) -> dict[str, Any]:
        line_px = self.spec.get("labelLineHeight", LINE_PX)
        return {"size_px": size_px, "line_px": line_px,
                "colour": self.spec.get("labelColor", MUTED)}  # fmt: skip

    def _align(self, at_px: float) -> str:
        """Below a tick in its middle, at the ends of the axis within them."""
        if self.spec.get("labelFlush", True) and not self.spec.get("labelAngle"):
            if abs(at_px) < _FLUSH_PX:
                return "left"
            if abs(at_px - self.width_px) < _FLUSH_PX:
                return "right"
        return str(self.spec.get("labelAlign", "center"))

    def _apart(self, labels: list[Text]) -> list[Text]:
        """Every second label, or every fourth, until none covers its neighbour; rows stay."""
        if isinstance(self.scale, Rows):
            return labels
        shown = labels
        while len(shown) > 2 and _covering(shown):
            shown = shown[::2]
        return shown[:1] if len(shown) == 2 and len(labels) > 2 and _covering(shown) else shown

    def _title(self, labels: Sequence[Box]) -> Text | None:
        """Beyond the widest label."""
        said = self.spec.get("title")
        lines = (said,) if isinstance(said, str) else tuple(said or ())
        if not any(lines):
            return None
        least_px = self.spec.get("minExtent", 0)
        if self.down:
            extent_px = max(least_px, *(-box.left for box in labels), 0)
            drop_px = round(DROPS["bottom"] * TEXT_PX) - LINE_PX * (len(lines) - 1)
            return Text(-extent_px - TITLE_GAP_PX, self.height_px / 2, lines, TEXT_PX, MUTED,
                        "center", -90, drop_px)  # fmt: skip
        ends = [box.bottom - self.height_px for box in labels]
        y = self.height_px + max(least_px, *ends, 0) + TITLE_GAP_PX
        return Text(self.width_px / 2, y, lines, TEXT_PX, MUTED, "center",
                    drop_px=round(DROPS["top"] * TEXT_PX))  # fmt: skip


def _covering(labels: Sequence[Text]) -> bool:
    boxes = [text.box() for text in labels]
    return any(one.overlaps(other) for one, other in pairwise(boxes))
