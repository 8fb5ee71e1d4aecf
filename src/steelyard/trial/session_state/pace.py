"""How many visits a budget of time holds, once the first ones have shown how long they take.

A plan is drawn by assumed times, so that a machine which is faster would be left undecided with
most of its time unused. The number is set before the judge looks for the first time, where what it
may have spent of the error rate does not depend on it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from statistics import fmean

from steelyard.plan.budget import first_look, visits_in_time
from steelyard.plan.model import Plan
from steelyard.records.events import AttemptFinished, AttemptStarted, Event
from steelyard.study.model import Study


def visits_by_pace(study: Study, plan: Plan, events: Iterable[Event], left_s: float) -> int | None:
    """How many to plan after those before the first look; ``None``: as many as there are.

    ``left_s`` is the time that is left for them.
    """
    once = plan.assumed_visits is None and plan.budget_visits is None
    if plan.screen is not None or not once:
        return None
    visit_s = _visit_s(plan, events)
    if visit_s is None:
        return None
    visits = visits_in_time(study, plan, first_look(study), visit_s, left_s)
    return visits if visits > len(plan.visits) else None


def _visit_s(plan: Plan, events: Iterable[Event]) -> float | None:
    """One visit, the mean over the systems: which of them came more often does not count.

    The first of a system may make its image or start its machine: others do not.
    """
    taken_s = _taken_s(plan, events)
    by_system: dict[str, list[float]] = defaultdict(list)
    for visit in plan.visits:
        if visit.visit in taken_s:
            by_system[visit.system].append(taken_s[visit.visit])
    if by_system.keys() != set(plan.systems):
        return None
    return fmean(fmean(each[1:] or each) for each in by_system.values())


def _taken_s(plan: Plan, events: Iterable[Event]) -> Mapping[int, float]:
    """Seconds of each visit, from the start of its attempts to their end; failed ones count."""
    visits = {trial.trial: visit.visit for visit in plan.visits for trial in visit.trials}
    taken_s: dict[int, float] = defaultdict(float)
    started_ns = 0
    for event in events:
        if isinstance(event, AttemptStarted):
            started_ns = event.at_unix_ns
        elif isinstance(event, AttemptFinished) and event.trial in visits:
            taken_s[visits[event.trial]] += (event.at_unix_ns - started_ns) / 1e9
    return taken_s
