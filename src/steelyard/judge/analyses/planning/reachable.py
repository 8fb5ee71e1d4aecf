"""Whether the planned visits can show a difference at all (``inference/reach.py``)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from steelyard.inference.randomisation import Design
from steelyard.inference.reach import first_decisive, found_log, sufficient_budget
from steelyard.judge.comparisons.families import deciding
from steelyard.judge.visits.pairs import horizon_of
from steelyard.judge.visits.workload_run import WorkloadRun, workload_runs
from steelyard.plan.model import Plan
from steelyard.plan.reach import Reach, Scope
from steelyard.study.model import Study

NOISES_LOG = tuple(math.log1p(share) for share in (0.02, 0.05, 0.10, 0.20))
"""Of a visit, where that of the machine is not known: quiet, usual, shared and loud ones."""


def reaches(
    study: Study, plan: Plan, noises_log: Sequence[float] = NOISES_LOG
) -> tuple[Reach, ...]:
    """For each workload: over all conditions, and at each of them if the study waits for these.

    None for a study without compared visits.
    """
    if not plan.visits:
        return ()
    runs = workload_runs(study, plan, ())
    return tuple(reach for one in runs for reach in _of_one(one, noises_log))


def _of_one(one: WorkloadRun, noises_log: Sequence[float]) -> Iterator[Reach]:
    plan, asked = one.plan, deciding(one.study, one.plan)
    for overall in (True, False):
        own = [each for each in asked if (each.conditions is None) is overall]
        if own:
            scope: Scope = "overall" if overall else "conditions"
            widest = max(own, key=lambda each: each.share)
            planned, side = horizon_of(plan, widest.pair), widest.share / 2
            margin_log = one.study.trials.margin_log
            found = {n: found_log(planned, n, side, margin_log) for n in noises_log}
            reach = reach_of(plan.design, planned, side)
            yield replace(reach, scope=scope, workload=one.name, found_log=found)


def reach_of(design: Design, planned: int, side: float) -> Reach:
    """Of a comparison with so many planned visits, each side of which may spend ``side``."""
    needed, would_do = first_decisive(design, planned, side), sufficient_budget(design, side)
    return Reach("overall", "", side, planned, needed, would_do)
