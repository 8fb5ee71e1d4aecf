"""Whether the planned visits can show a difference at all (``inference/reach.py``)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from steelyard.inference.randomisation import Design
from steelyard.inference.reach import first_decisive, sufficient_budget
from steelyard.judge.comparisons.families import deciding
from steelyard.judge.visits.pairs import horizon_of
from steelyard.judge.visits.workload_run import WorkloadRun, workload_runs
from steelyard.plan.model import Plan
from steelyard.plan.reach import Reach, Scope
from steelyard.study.model import Study


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
    needed, would_do = first_decisive(design, planned, side), sufficient_budget(design, side)
    return Reach("overall", "", side, planned, needed, would_do)
