"""Which systems are still in the race: those with a comparison or a claim that is open.

A system leaves between two blocks and does not come back. The order of those that stay is the
order that was drawn for all, without those that left: still every order with equal probability,
and fixed before the first trial. See "Racing" in ``docs/methods/judge.md``.
"""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.judge.claims.judged import open_parts
from steelyard.judge.comparison import judge
from steelyard.judge.dummy import readings_of
from steelyard.judge.each_workload import apart, several
from steelyard.judge.families import Comparison, deciding
from steelyard.judge.findings import DECIDED
from steelyard.plan.model import Plan
from steelyard.records.schema import TrialRecord
from steelyard.study.model import Study

NOBODY: frozenset[str] = frozenset()


def racing(
    study: Study,
    plan: Plan,
    records: Sequence[TrialRecord],
    block: int,
    given_up: frozenset[str] = NOBODY,
) -> frozenset[str]:
    """The systems that are visited in a block: a function of the records of earlier blocks alone.

    With two systems both race to the end, and so do all where the influence of factors is asked,
    which needs a balanced table. A comparison that cannot be judged is not decided. Systems that
    were ``given_up``, as they fail whatever is done, hold nobody else in the race.
    """
    if several(study):
        own = apart(study, plan, records)
        return frozenset[str]().union(*(racing(*one, block, given_up) for one in own))
    systems = frozenset(plan.systems) - given_up
    if len(plan.systems) <= 2 or study.ask is not None:
        return systems
    of = {visit.visit: visit.block for visit in plan.visits}
    earlier = [r for r in records if r.visit in of and of[r.visit] < block]
    if not earlier:
        return systems
    last = {record.cell.system for record in earlier if of[record.visit] == block - 1}
    readings, margin = readings_of(study, plan, earlier), study.trials.margin_log
    open_systems: set[str] = set()
    for each in possible(deciding(study, plan), given_up):
        members = {each.pair.baseline, each.pair.other}
        if members <= last and not members <= open_systems:
            decided = judge(each, readings, margin).word in DECIDED
            open_systems |= set() if decided else members
    for _, part in open_parts(study, plan, readings):
        members = {part.pair.baseline, part.pair.other}
        open_systems |= members if members <= last - given_up else set()
    dummy = study.trials.dummy
    if dummy is not None and open_systems:
        open_systems |= {study.baseline, dummy} & last
    return frozenset(open_systems) - given_up


def hopeless(study: Study, plan: Plan, given_up: frozenset[str]) -> bool:
    """Whether systems were given up and nothing that decides can be compared without them."""
    if several(study):
        return all(hopeless(own.study, own.plan, given_up) for own in apart(study, plan, ()))
    return bool(given_up) and not possible(deciding(study, plan), given_up)


def possible(
    comparisons: Sequence[Comparison], given_up: frozenset[str] = NOBODY
) -> list[Comparison]:
    """Those of which neither system was given up."""
    return [each for each in comparisons if not {each.pair.baseline, each.pair.other} & given_up]
