"""From study, plan and records to a design with its replicates."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from steelyard.inference.noise.robust import Floats
from steelyard.judge.analyses.factors.design import Design, Layout, plots_of
from steelyard.judge.analyses.factors.findings import NoRatio
from steelyard.judge.visits.readings import Readings
from steelyard.plan.model import Plan, PlannedVisit, ScreenPlan
from steelyard.records.schema import TrialRecord
from steelyard.study.model import Level
from steelyard.study.workload_study import WorkloadStudy


@dataclass(frozen=True)
class Asked:
    """One set of factors that is asked about, and what was measured of it.

    ``replicates`` are natural logarithms by cell, in the order of the layouts, and ``places`` the
    numbers of their trials, where cells of a replicate have no visits in common; ``left_out``
    counts replicates that were begun and miss a cell; ``problems`` say why no ratio is defined.
    """

    system: str | None
    factors: Mapping[str, tuple[Level, ...]]
    hard_to_change: tuple[str, ...]
    design: Design
    planned: int
    resolution: int | None
    relations: tuple[str, ...]
    visits: frozenset[int]
    replicates: tuple[Floats, ...]
    places: tuple[Floats, ...]
    left_out: int
    problems: tuple[NoRatio, ...]


@dataclass(frozen=True)
class _Cell:
    """Where the record of a cell is to be found: a visit and its conditions."""

    visit: int
    conditions: dict[str, Level]


def asked(study: WorkloadStudy, plan: Plan, readings: Readings) -> list[Asked]:
    """What the study asks of factors: of a screening, of all factors of a comparison, or both.

    A comparison without any further factor is its verdict.
    """
    found = []
    if study.ask is not None and len(plan.systems) > 1 and len(study_factors(study, plan)) > 1:
        found.append(_of_comparison(study, plan, readings))
    if plan.screen is not None:
        found.append(_of_screen(study, plan.screen, readings))
    return found


def study_factors(study: WorkloadStudy, plan: Plan) -> dict[str, tuple[Level, ...]]:
    """The compared factor, its baseline first, and every condition that has several levels."""
    varied = {name: levels for name, levels in study.factors.items() if len(levels) > 1}
    return {study.compare: tuple(plan.systems), **varied}


def _of_comparison(study: WorkloadStudy, plan: Plan, readings: Readings) -> Asked:
    """Visits are whole plots; the i-th good ones of all systems make replicate i."""
    factors = study_factors(study, plan)
    combined = [(system, conditions) for system in plan.systems for conditions in plan.conditions]
    indices = tuple(
        (plan.systems.index(system), *(factors[n].index(c[n]) for n in list(factors)[1:]))
        for system, c in combined
    )
    by_system = {s: [v for v in plan.visits if v.system == s] for s in plan.systems}
    table = _Table(study.primary.name, readings)
    cells = {v.visit: [_Cell(v.visit, c) for c in plan.conditions] for v in plan.visits}
    complete = {s: [v for v in vs if table.complete(cells[v.visit])] for s, vs in by_system.items()}
    measured = []
    for visits in zip(*(complete[system] for system in plan.systems), strict=False):
        by_name = dict(zip(plan.systems, visits, strict=True))
        met = [_Cell(by_name[s].visit, c) for s, c in combined]
        measured.append((table.values(met), table.places(met)))
    return Asked(
        system=None,
        factors=factors,
        hard_to_change=(study.compare,),
        design=Design(_counts(factors), (Layout(indices, plots_of(indices, (0,))),)),
        planned=min(len(visits) for visits in by_system.values()),
        resolution=None,
        relations=(),
        visits=frozenset(visit.visit for visit in plan.visits),
        replicates=tuple(values for values, _ in measured),
        places=tuple(places for _, places in measured),
        left_out=sum(
            table.begun(cells[v.visit]) and v not in complete[s]
            for s, vs in by_system.items()
            for v in vs
        ),
        problems=table.problems,
    )


def _of_screen(study: WorkloadStudy, screen: ScreenPlan, readings: Readings) -> Asked:
    """A block is a replicate; fractions take turns."""
    names = list(screen.factors)
    hard = tuple(names.index(name) for name in screen.hard_to_change)
    layouts = []
    for fraction in screen.fractions:
        indices = tuple(
            tuple(screen.factors[name].index(cell[name]) for name in names)
            for cell in fraction.cells
        )
        layouts.append(Layout(indices, plots_of(indices, hard)))
    table = _Table(study.primary.name, readings)
    parts: list[list[tuple[Floats, Floats]]] = [[] for _ in layouts]
    left_out = 0
    for block, cells in _blocks(screen).items():
        turn = (block - 1) % len(layouts)
        ordered = [cells[_key(cell)] for cell in screen.fractions[turn].cells]
        if table.complete(ordered):
            parts[turn].append((table.values(ordered), table.places(ordered)))
        else:
            left_out += table.begun(ordered)
    measured = list(_by_turns(parts))
    return Asked(
        system=screen.system,
        factors=screen.factors,
        hard_to_change=screen.hard_to_change,
        design=Design(_counts(screen.factors), tuple(layouts)),
        planned=screen.replicates,
        resolution=screen.fractions[0].resolution,
        relations=tuple(each.relation for each in screen.fractions if each.relation),
        visits=frozenset(visit.visit for visit in screen.visits),
        replicates=tuple(values for values, _ in measured),
        places=tuple(places for _, places in measured),
        left_out=left_out,
        problems=table.problems,
    )


def _counts(factors: Mapping[str, tuple[Level, ...]]) -> tuple[int, ...]:
    return tuple(len(levels) for levels in factors.values())


def _cells(visit: PlannedVisit) -> list[_Cell]:
    return [_Cell(visit.visit, trial.cell.conditions) for trial in visit.trials]


def _key(conditions: Mapping[str, Level]) -> tuple[tuple[str, Level], ...]:
    return tuple(sorted(conditions.items()))


def _blocks(screen: ScreenPlan) -> dict[int, dict[object, _Cell]]:
    blocks: dict[int, dict[object, _Cell]] = {}
    for visit in screen.visits:
        for cell in _cells(visit):
            blocks.setdefault(visit.block, {})[_key(cell.conditions)] = cell
    return blocks


def _by_turns(
    parts: Sequence[Sequence[tuple[Floats, Floats]]],
) -> Iterator[tuple[Floats, Floats]]:
    """One of each layout after the other, until one of them has no more."""
    for i in range(max(len(part) for part in parts)):
        for part in parts:
            if i >= len(part):
                return
            yield part[i]


class _Table:
    """The primary response by visit and conditions, with what stands against a logarithm."""

    def __init__(self, response: str, readings: Readings) -> None:
        self.response, self.readings = response, readings
        self._problems: dict[NoRatio, None] = {}

    @property
    def problems(self) -> tuple[NoRatio, ...]:
        return tuple(self._problems)

    def begun(self, cells: Sequence[_Cell]) -> bool:
        return any(self.readings.good(each.visit, each.conditions) for each in cells)

    def complete(self, cells: Sequence[_Cell]) -> bool:
        """Whether every cell has a good trial; notes what has no logarithm."""
        records = [self.readings.good(each.visit, each.conditions) for each in cells]
        if not all(records):
            return False
        usable = [self._usable(found[0]) for found in records]
        return all(usable)

    def values(self, cells: Sequence[_Cell]) -> Floats:
        records = [self.readings.good(each.visit, each.conditions)[0] for each in cells]
        return np.array([math.log(record.value(self.response) or math.nan) for record in records])

    def places(self, cells: Sequence[_Cell]) -> Floats:
        """Where the trials stand in the order of the study."""
        records = [self.readings.good(each.visit, each.conditions)[0] for each in cells]
        return np.array([record.trial for record in records], dtype=np.float64)

    def _usable(self, record: TrialRecord) -> bool:
        value = record.value(self.response)
        if value is not None and math.isfinite(value) and value > 0:
            return True
        self._problems[NoRatio(trial=record.trial, missing=value is None)] = None
        return False
