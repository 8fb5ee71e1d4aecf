"""Drawings of one condition, side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

from steelyard.report.charts.drawing import Drawing

MOST_CONDITIONS = 12

_Item = TypeVar("_Item")


@dataclass(frozen=True)
class Panels:
    """``condition`` is empty where there is but one."""

    condition: str
    drawings: tuple[Drawing, ...]


def evenly(items: list[_Item], most: int = MOST_CONDITIONS) -> list[_Item]:
    """All, or so many with the first and the last."""
    last = len(items) - 1
    if last < most:
        return items
    return [items[round(i * last / (most - 1))] for i in range(most)]
