"""The shapes that points have; those of one area look equally large."""

from __future__ import annotations

from steelyard.report.charts.svg.markup import number

_HEIGHT = 3**0.5 / 2
_ARM = 0.4
"""Half the width of an arm of the cross, in half widths of the whole."""
Corners = tuple[tuple[float, float], ...]


def _cross() -> Corners:
    a = _ARM
    return ((-1, -a), (-1, a), (-a, a), (-a, 1), (a, 1), (a, a),
            (1, a), (1, -a), (a, -a), (a, -1), (-a, -1), (-a, -a))  # fmt: skip


_CORNERS: dict[str, Corners] = {
    "square": ((-1, -1), (1, -1), (1, 1), (-1, 1)),
    "diamond": ((-1, 0), (0, -1), (1, 0), (0, 1)),
    "cross": _cross(),
    "triangle-up": ((0, -_HEIGHT), (-1, _HEIGHT), (1, _HEIGHT)),
    "triangle-down": ((0, _HEIGHT), (-1, -_HEIGHT), (1, -_HEIGHT)),
    "triangle-left": ((-_HEIGHT, 0), (_HEIGHT, -1), (_HEIGHT, 1)),
    "triangle-right": ((_HEIGHT, 0), (-_HEIGHT, -1), (-_HEIGHT, 1)),
}


def symbol(shape: str, area: float) -> str:
    """The path of a shape of an area, in square pixels of the square around it, about 0,0."""
    half = area**0.5 / 2
    if shape == "circle":
        r = number(half)
        return f"M{r},0A{r},{r},0,1,1,-{r},0A{r},{r},0,1,1,{r},0"
    corners = (f"{number(x * half)},{number(y * half)}" for x, y in _CORNERS[shape])
    return f"M{'L'.join(corners)}Z"
