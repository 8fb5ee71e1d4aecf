"""What a cell of validation is to the command that runs it: something to do, and what it counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

BATCH = 32
FULL = 20_000
"""Studies of a cell that the goals ask for."""


@dataclass
class Tally:
    """What one batch adds to a result."""

    studies: int
    counts: Counter[str] = field(default_factory=Counter)
    stops: Counter[int] = field(default_factory=Counter)


@dataclass(frozen=True)
class Task:
    """One cell of a goal. ``run`` takes the number of the batch and how many studies it has.

    ``most``: when it is full, however many studies are asked for. ``batch``: studies that are
    run before their count is kept; always whole, as what is drawn in one depends on its size.
    """

    goal: str
    cell: str
    about: dict[str, Any]
    run: Callable[[int, int], Tally]
    most: int = FULL
    batch: int = BATCH
