"""What drawings are put together from: numbers, tags, and the boxes that marks cover."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple


class Box(NamedTuple):
    """An upright rectangle, in pixels from the upper left corner of the plot."""

    left: float
    top: float
    right: float
    bottom: float

    def overlaps(self, other: Box) -> bool:
        """Whether they share more than an edge."""
        apart = max(
            other.left - self.right,
            self.left - other.right,
            other.top - self.bottom,
            self.top - other.bottom,
        )
        return apart < 0


class Painted(NamedTuple):
    """Markup, and what it covers."""

    markup: str
    boxes: tuple[Box, ...] = ()


def together(parts: Iterable[Painted]) -> Painted:
    """One upon the other."""
    found = list(parts)
    return Painted(
        "".join(each.markup for each in found), tuple(box for each in found for box in each.boxes)
    )


def around(boxes: Iterable[Box]) -> Box:
    """The smallest that holds all."""
    lefts, tops, rights, bottoms = zip(*boxes, strict=True)
    return Box(min(lefts), min(tops), max(rights), max(bottoms))


def number(value: float) -> str:
    """Hundredths of a pixel are enough."""
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def tag(name: str, attributes: Mapping[str, str | float | None], content: str = "") -> str:
    """One element; attributes that are ``None`` are left out, texts must need no escape."""
    said = "".join(
        f' {key}="{value if isinstance(value, str) else number(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    return f"<{name}{said}>{content}</{name}>" if content else f"<{name}{said}/>"
