"""Whether the planned visits can show a difference at all.

The exact test compares the order that was with all that might have been. Of few visits there are
few orders, so that the rarest of them is still more likely than what a comparison may spend of
the error rate: then no difference is reported, however large.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace

from steelyard.inference.randomisation import PATHS, Design
from steelyard.inference.spending import FIRST_LOOK, spent
from steelyard.judge.comparisons.families import deciding
from steelyard.judge.visits.readings import horizon_of
from steelyard.judge.visits.workload_run import WorkloadRun, workload_runs
from steelyard.plan.model import Plan
from steelyard.plan.reach import Reach, Scope
from steelyard.study.model import Study

_LONGEST = 1_000
_LUCK = 3
_FOURS = (1.0, 1 / 2, 1 / 6, 1 / 6)
"""Chance of the rarest beginning of a block of four, by how many of its visits there were."""


def reaches(study: Study, plan: Plan) -> tuple[Reach, ...]:
    """For each workload: over all conditions, and at each of them if the study waits for these.

    None for a study without compared visits.
    """
    if not plan.visits:
        return ()
    return tuple(reach for one in workload_runs(study, plan, ()) for reach in _of_one(one))


def _of_one(one: WorkloadRun) -> Iterator[Reach]:
    plan, asked = one.plan, deciding(one.study, one.plan)
    for overall in (True, False):
        own = [each for each in asked if (each.conditions is None) is overall]
        if own:
            scope: Scope = "overall" if overall else "conditions"
            widest = max(own, key=lambda each: each.share)
            found = reach_of(plan.design, horizon_of(plan, widest.pair), widest.share / 2)
            yield replace(found, scope=scope, workload=one.name)


def reach_of(design: Design, planned: int, side: float) -> Reach:
    """Of a comparison with so many planned visits, each side of which may spend ``side``."""
    rarest, step = _RAREST[design], _WHOLE[design]
    budgets = range(FIRST_LOOK, _LONGEST, step)
    would_do = next((n for n in budgets if _first(n, rarest, side, -_LUCK)), _LONGEST)
    return Reach("overall", "", side, planned, _first(planned, rarest, side, _LUCK), would_do)


def _first(horizon: int, rarest: Callable[[int], float], side: float, luck: int) -> int | None:
    """The first look by which the rarest order is rarer than what may have been spent.

    Of the simulated orders more or fewer than expected are that order: ``luck`` in deviations.
    """
    for look in range(FIRST_LOOK, horizon + 1):
        expected = PATHS * rarest(look)
        if PATHS * spent(look, horizon, side) >= 1 + expected - luck * math.sqrt(expected):
            return look
    return None


_RAREST: dict[Design, Callable[[int], float]] = {
    # every visit assigned freely: neither ever leads by 2
    "big_stick": lambda visits: 2.0**-visits,
    "pairs": lambda visits: 2.0 ** -((visits + 1) // 2),
    "blocks": lambda visits: 2.0 ** -((visits + 1) // 2),
    "double_blocks": lambda visits: 6.0 ** -(visits // 4) * _FOURS[visits % 4],
}
_WHOLE: dict[Design, int] = {"big_stick": 1, "pairs": 2, "blocks": 2, "double_blocks": 4}
"""Visits of a pair that a plan holds at a time."""
