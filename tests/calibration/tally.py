"""What a cell of validation is to the command that runs it: something to do, and what it counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Tally:
    """What one batch adds to a result."""

    studies: int
    counts: Counter[str] = field(default_factory=Counter)
    stops: Counter[int] = field(default_factory=Counter)


@dataclass(frozen=True)
class Task:
    """One cell of a goal. ``run`` takes the number of the batch and how many studies it has.

    ``most``: all there is to do, however many studies are asked for.
    """

    goal: str
    cell: str
    about: dict[str, Any]
    run: Callable[[int, int], Tally]
    most: int | None = None
