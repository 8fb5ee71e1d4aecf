"""What is held against one alone: several instances, or a scenario."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from steelyard.judge.visits.attempts import key_of
from steelyard.judge.visits.pairs import Conditions
from steelyard.plan.model import Cell, Plan
from steelyard.study.model import SCENARIO
from steelyard.study.scenarios import PlacedBackground, alone, measured_count, placed_background
from steelyard.study.workload_study import WorkloadStudy

INSTANCES = "system.instances"


@dataclass(frozen=True)
class Gathering:
    """Two conditions of one visit: ``together``, and what it is held against.

    ``conditions`` are those that the finding is reported by, ``instances`` how many are measured,
    ``placed`` what runs in the background.
    """

    conditions: Conditions
    alone: Conditions
    together: Conditions
    instances: int
    placed: tuple[PlacedBackground, ...] = ()

    @property
    def background(self) -> tuple[str, ...]:
        """What runs in the background, by name."""
        return tuple(each.workload for each in self.placed)


def gatherings(study: WorkloadStudy, plan: Plan) -> Iterator[list[Gathering]]:
    """All of one workload, for each combination of the other factors."""
    if study.scenarios:
        yield from _scenarios(study, plan)
        return
    counts = sorted(int(level) for level in study.factors.get(INSTANCES, ()) if int(level) > 1)
    for rest in _rests(plan, INSTANCES):
        yield [
            Gathering(
                conditions=rest,
                alone={**rest, INSTANCES: 1},
                together={**rest, INSTANCES: count},
                instances=count,
                placed=_background(study, count),
            )
            for count in counts
        ]


def exists(plan: Plan, system: str, gathering: Gathering) -> bool:
    """Whether a system has instances enough for it."""
    return Cell(system=system, conditions=gathering.together) not in plan.not_applicable


def _background(study: WorkloadStudy, count: int) -> tuple[PlacedBackground, ...]:
    """What instances up to this number run instead of the workload, idling included."""
    placed = (spec for number, spec in study.background.items() if number <= count)
    return tuple(PlacedBackground(spec.use, same_instance=False) for spec in placed)


def _scenarios(study: WorkloadStudy, plan: Plan) -> Iterator[list[Gathering]]:
    """Each scenario against the first in which a workload is by itself; none without."""
    levels = [str(level) for level in study.factors.get(SCENARIO, ())]
    first = next((level for level in levels if alone(study.scenarios[level])), None)
    name = study.workload_name
    for rest in _rests(plan, SCENARIO) if first is not None else ():
        yield [
            Gathering(
                conditions={**rest, SCENARIO: level},
                alone={**rest, SCENARIO: first or ""},
                together={**rest, SCENARIO: level},
                instances=measured_count(study.scenarios[level], name),
                placed=placed_background(study.scenarios[level], name),
            )
            for level in levels
            if level != first
        ]


def _rests(plan: Plan, factor: str) -> list[Conditions]:
    """The levels of all factors but one."""
    rests = ({k: v for k, v in each.items() if k != factor} for each in plan.conditions)
    return list({key_of(rest): rest for rest in rests}.values())
