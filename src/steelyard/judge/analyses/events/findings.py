"""What is found of one event in one cell."""

from __future__ import annotations

from steelyard.plan.model import Cell, Frozen


class EventFinding(Frozen):
    """When an event happened, from the start of the window: medians over the good trials."""

    cell: Cell
    event: str
    machine: str
    trials: int
    began_s: float
    ended_s: float
