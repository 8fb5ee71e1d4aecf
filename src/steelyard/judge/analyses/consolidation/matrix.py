"""Who is slowed by whom: each victim beside each aggressor, empty cells with a reason. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from steelyard.judge.analyses.consolidation.findings import (
    ConsolidationFinding,
    EmptyCell,
    InterferenceCellFinding,
    InterferenceTableFinding,
    NoScenario,
    NoVisitWithBoth,
    RatioFinding,
    TooFewInstances,
)
from steelyard.judge.analyses.consolidation.gatherings import (
    INSTANCES,
    Gathering,
    exists,
    gatherings,
)
from steelyard.plan.model import Plan
from steelyard.study.labels import Labels
from steelyard.study.model import SCENARIO, Study
from steelyard.study.scenarios import Neighbour


@dataclass(frozen=True)
class OneWorkload:
    """The study and plan of one workload, and what was found of several instances of it."""

    study: Study
    plan: Plan
    found: Sequence[ConsolidationFinding]


@dataclass(frozen=True)
class _Met:
    """One way in which a victim meets an aggressor."""

    of: OneWorkload
    gathering: Gathering
    victim: str
    aggressor: str


def interference_findings(workloads: Sequence[OneWorkload]) -> Iterator[InterferenceTableFinding]:
    """One table for each system, over all workloads; none where nothing runs beside."""
    met = _told_apart([each for one in workloads if one.found for each in _meetings(one)])
    victims = tuple(dict.fromkeys(each.victim for each in met))
    aggressors = tuple(dict.fromkeys(each.aggressor for each in met))
    by_place = {(each.victim, each.aggressor): each for each in met}
    for system in workloads[0].plan.systems if met else ():
        cells = tuple(
            _cell(system, victim, aggressor, by_place.get((victim, aggressor)))
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
    for of in (of for rest in gatherings(one.study, one.plan) for of in rest if of.neighbours):
        yield _Met(one, of, _victim(one.study, of), _aggressor(of.neighbours))


def _told_apart(met: Sequence[_Met]) -> list[_Met]:
    """Ways that read alike are called by their scenario, too."""
    places = Counter((each.victim, each.aggressor) for each in met)
    twice = {aggressor for (_, aggressor), count in places.items() if count > 1}
    return [
        _Met(each.of, each.gathering, each.victim, f"{each.aggressor} ({_scenario(each)})")
        if each.aggressor in twice
        else each
        for each in met
    ]


def _scenario(met: _Met) -> str:
    together = met.gathering.together
    return str(together.get(SCENARIO, f"{together.get(INSTANCES)} instances"))


def _victim(study: Study, of: Gathering) -> str:
    """A workload with its levels, and on how many instances it is measured."""
    rest = {k: v for k, v in of.conditions.items() if k not in {SCENARIO, INSTANCES}}
    name = Labels.of(study).conditions(rest) or study.workload.use
    measured = of.instances - sum(not each.near for each in of.neighbours)
    count = of.instances if SCENARIO in of.together else measured
    return name if count <= 1 else f"{count} x {name}"


def _aggressor(neighbours: Sequence[Neighbour]) -> str:
    """What runs beside and where, as ``2 x cpu on other instances``."""
    counts = Counter(neighbours)
    return " and ".join(_said(each, count) for each, count in counts.items())


def _said(neighbour: Neighbour, count: int) -> str:
    name = neighbour.workload if count == 1 else f"{count} x {neighbour.workload}"
    if neighbour.near:
        return f"{name} on the same instance"
    return f"{name} on another instance" if count == 1 else f"{name} on other instances"


def _cell(system: str, victim: str, aggressor: str, met: _Met | None) -> InterferenceCellFinding:
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
