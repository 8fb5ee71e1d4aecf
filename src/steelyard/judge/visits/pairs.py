"""Two compared systems, what the plan holds for them, and on which scale they are judged.

Nothing here has been measured, so that a plan needs no more of the judge than this.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from steelyard.plan.model import Plan
from steelyard.study.model import Level

Conditions = dict[str, Level]
MACHINE = "machine"
"""What a condition is called that is the machine on which all systems were measured."""
Scale = Literal["log", "plain", "odds"]
"""The natural logarithm, the value itself, or the logarithm of the odds of a share."""


@dataclass(frozen=True)
class Pair:
    """Two compared systems, and which visits of the plan are theirs."""

    baseline: str
    other: str


def met_by_both(plan: Plan, pair: Pair, conditions: Conditions) -> bool:
    """Whether a cell exists for both systems of a pair."""
    return not any(
        cell.conditions == conditions and cell.system in {pair.baseline, pair.other}
        for cell in plan.not_applicable
    )


def horizon_of(plan: Plan, pair: Pair) -> int:
    """The budget of a pair in visits, as fixed before the first."""
    return sum(visit.system in (pair.baseline, pair.other) for visit in plan.budgeted)
