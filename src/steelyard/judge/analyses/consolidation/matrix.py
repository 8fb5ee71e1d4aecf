"""Who is slowed by whom: each victim beside each aggressor, empty cells with a reason. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from steelyard.judge.analyses.consolidation.findings import (
    Aggressor,
    BackgroundWorkload,
    ConsolidationFinding,
    EmptyCell,
    InterferenceCellFinding,
    InterferenceTableFinding,
    NoScenario,
    NoVisitWithBoth,
    RatioFinding,
    TooFewInstances,
    Victim,
)
from steelyard.judge.analyses.consolidation.gatherings import (
    INSTANCES,
    Gathering,
    exists,
    gatherings,
)
from steelyard.plan.model import Plan
from steelyard.study.model import SCENARIO
from steelyard.study.scenarios import PlacedBackground
from steelyard.study.workload_study import WorkloadStudy

T = TypeVar("T")


@dataclass(frozen=True)
class OneWorkload:
    """The study and plan of one workload, and what was found of several instances of it."""

    study: WorkloadStudy
    plan: Plan
    found: Sequence[ConsolidationFinding]


@dataclass(frozen=True)
class _Met:
    """One way in which a victim meets an aggressor."""

    of: OneWorkload
    gathering: Gathering
    victim: Victim
    aggressor: Aggressor


def interference_findings(workloads: Sequence[OneWorkload]) -> Iterator[InterferenceTableFinding]:
    """One table for each system, over all workloads; none where nothing runs beside."""
    met = _told_apart([each for one in workloads if one.found for each in _meetings(one)])
    victims = _each_once(each.victim for each in met)
    aggressors = _each_once(each.aggressor for each in met)
    for system in workloads[0].plan.systems if met else ():
        cells = tuple(
            _cell(system, victim, aggressor, _meeting(met, victim, aggressor))
            for victim in victims
            for aggressor in aggressors
        )
        if any(
            each.slowdown is not None or isinstance(each.missing, NoVisitWithBoth) for each in cells
        ):
            yield InterferenceTableFinding(
                system=system, victims=victims, aggressors=aggressors, cells=cells
            )


def _meetings(one: OneWorkload) -> Iterator[_Met]:
    for of in (of for rest in gatherings(one.study, one.plan) for of in rest if of.placed):
        yield _Met(one, of, _victim(one.study, of), _aggressor(of.placed))


def _each_once(found: Iterable[T]) -> tuple[T, ...]:
    """Each of equal values once, in the order of the first."""
    once: list[T] = []
    for each in found:
        if each not in once:
            once.append(each)
    return tuple(once)


def _meeting(met: Sequence[_Met], victim: Victim, aggressor: Aggressor) -> _Met | None:
    found = [e for e in met if (e.victim, e.aggressor) == (victim, aggressor)]
    return found[-1] if found else None


def _told_apart(met: Sequence[_Met]) -> list[_Met]:
    """Ways with equal victims and aggressors are named by their scenario, too."""
    places = [(each.victim, each.aggressor) for each in met]
    twice = [aggressor for place in places if places.count(place) > 1 for aggressor in place[1:]]
    return [
        replace(each, aggressor=_of_scenario(each)) if each.aggressor in twice else each
        for each in met
    ]


def _of_scenario(met: _Met) -> Aggressor:
    together = met.gathering.together
    if SCENARIO in together:
        return met.aggressor.model_copy(update={"scenario": str(together[SCENARIO])})
    return met.aggressor.model_copy(update={"instances": together.get(INSTANCES)})


def _victim(study: WorkloadStudy, of: Gathering) -> Victim:
    measured = of.instances - sum(not each.same_instance for each in of.placed)
    return Victim(
        workload=study.workload.use,
        conditions={k: v for k, v in of.conditions.items() if k not in {SCENARIO, INSTANCES}},
        instances=of.instances if SCENARIO in of.together else measured,
    )


def _aggressor(placed: Sequence[PlacedBackground]) -> Aggressor:
    counts = Counter(placed)
    return Aggressor(
        workloads=tuple(
            BackgroundWorkload(
                workload=each.workload, count=count, same_instance=each.same_instance
            )
            for each, count in counts.items()
        )
    )


def _cell(
    system: str, victim: Victim, aggressor: Aggressor, met: _Met | None
) -> InterferenceCellFinding:
    found = None if met is None else _found(system, met)
    slower = _slowdown(found)
    return InterferenceCellFinding(
        victim=victim,
        aggressor=aggressor,
        conditions=None if met is None else met.gathering.together,
        slowdown=slower,
        word=None if found is None or found.interference is None else found.interference.word,
        visits=0 if found is None else found.visits,
        missing=None if slower is not None else _why_empty(system, met),
    )


def _found(system: str, met: _Met) -> ConsolidationFinding | None:
    wanted = (system, met.gathering.conditions, met.gathering.instances)
    return next(
        (f for f in met.of.found if (f.system, f.conditions, f.instances) == wanted),
        None,
    )


def _slowdown(found: ConsolidationFinding | None) -> RatioFinding | None:
    """What was lost, as the time that the same work takes: one over the change of speed."""
    if found is None or found.interference is None:
        return None
    change = found.interference.change
    low, high = change.low_log, change.high_log
    return RatioFinding(
        log=-change.log,
        low_log=None if high is None else -high,
        high_log=None if low is None else -low,
    )


def _why_empty(system: str, met: _Met | None) -> EmptyCell:
    if met is None:
        return NoScenario()
    return NoVisitWithBoth() if exists(met.of.plan, system, met.gathering) else TooFewInstances()
