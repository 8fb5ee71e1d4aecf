"""What the number of planned visits can decide at best.

The figures are the judge's (``judge/analyses/planning/reachable.py``) and handed in, because a plan
stands before the judge in the way of the data.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

Scope = Literal["overall", "conditions"]


@dataclass(frozen=True)
class Reach:
    """Of one kind of comparison: after how many visits a difference can be decided at all.

    ``scope``: over all conditions together, or at each by itself. ``side`` is what one side of each
    comparison may spend of the error rate. Visits are those of a pair of systems: ``planned`` in
    the budget, ``needed`` of it (``None``: more than are planned), ``would_do`` the smallest budget
    that is enough. ``found_log`` maps the noise of a visit to the difference that all planned
    visits find in nine of ten runs, both natural logarithms.
    """

    scope: Scope
    workload: str
    side: float
    planned: int
    needed: int | None
    would_do: int
    found_log: Mapping[float, float] = field(default_factory=dict, hash=False)


def first_reached(reaches: Sequence[Reach]) -> int | None:
    """Visits of a pair after which any difference can be shown; ``None``: not within the budget."""
    return min((each.needed for each in reaches if each.needed is not None), default=None)
