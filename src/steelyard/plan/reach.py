"""What the number of planned visits can tell at best, in words for a plan.

The figures are the judge's (``judge/analyses/planning/reachable.py``) and handed in, because a plan
stands before the judge in the way of the data.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from steelyard.units import format_share

Scope = Literal["overall", "conditions"]
_SCOPES = {"overall": "over all conditions", "conditions": "at single conditions"}


@dataclass(frozen=True)
class Reach:
    """Of one kind of comparison: after how many visits a difference can be decided at all.

    ``scope``: over all conditions together, or at each by itself. ``side`` is what one side of each
    comparison may spend of the error rate. Visits are those of a pair of systems: ``planned`` in
    the budget, ``needed`` of it (``None``: more than are planned), ``would_do`` the smallest budget
    that is enough.
    """

    scope: Scope
    workload: str
    side: float
    planned: int
    needed: int | None
    would_do: int


def out_of_reach(reaches: Sequence[Reach]) -> list[str]:
    """What is said of the comparisons that the budget cannot decide; alike ones in one sentence."""
    lacking = [each for each in reaches if each.needed is None]
    kinds = dict.fromkeys(replace(each, workload="") for each in lacking)
    several = len({each.workload for each in reaches}) > 1
    return [
        _words(kind, [e.workload for e in lacking if several and replace(e, workload="") == kind])
        for kind in kinds
    ]


def _words(kind: Reach, workloads: list[str]) -> str:
    of = f" of {', '.join(workloads)}" if workloads else ""
    return (
        f"a difference {_SCOPES[kind.scope]}{of}, however large: {kind.planned} visits of a pair "
        f"have too few orders for {format_share(kind.side)} a side; {kind.would_do} have enough, "
        "or let fewer systems, conditions or workloads share the error rate"
    )


def first_reached(reaches: Sequence[Reach]) -> int | None:
    """Visits of a pair after which any difference can be shown; ``None``: not within the budget."""
    return min((each.needed for each in reaches if each.needed is not None), default=None)
