"""From a study to what is measured: conditions, cells, and visits in random order."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Sequence
from typing import Literal

from steelyard.plan.model import Cell, PlannedTrial, PlannedVisit
from steelyard.plan.order import ROUNDS, big_stick, blocks, condition_orders, generator, pairs
from steelyard.study.model import FIND, Level, Study
from steelyard.study.scenarios import applies
from steelyard.study.workload_study import WorkloadStudy, conditions_of, studies

Design = Literal["big_stick", "pairs", "double_blocks"]
"""``pairs`` are of earlier runs."""


def compared(study: Study) -> tuple[str, ...]:
    """Names of what is compared, the baseline first, then in the order of the study."""
    return (study.baseline, *(name for name in study.named if name != study.baseline))


def as_planned(study: Study, systems: Collection[str]) -> Study:
    """The study with the names of compared levels that a plan has: those of plans of earlier
    versions are numbers without a unit.
    """
    if study.baseline in systems:
        return study
    old = {name: str(level) for name, level in study.named.items()}
    claims = tuple(
        claim.model_copy(
            update={
                "subject": old.get(claim.subject or "", claim.subject),
                "other": old.get(claim.other or "", claim.other),
                "excepted": tuple(old.get(name, name) for name in claim.excepted),
            }
        )
        for claim in study.claims
    )
    baseline = old.get(study.baseline, study.baseline)
    update = {"names": tuple(old.values()), "baseline": baseline, "claims": claims}
    return study.model_copy(update=update)


def absent(study: Study) -> tuple[Cell, ...]:
    """Cells that do not exist: scenarios for which a system has too few instances."""
    return tuple(
        Cell(system=name, conditions=condition)
        for name, level in study.named.items()
        for condition in conditions_of(study)
        if not _exists(study, level, condition)
    )


def _exists(study: Study, level: Level, condition: dict[str, Level]) -> bool:
    name = level if study.compare == "system" else condition.get("system")
    system = study.systems.get(str(name), next(iter(study.systems.values())))
    return applies(study, system, {study.compare: level, **condition})


def searches(study: Study) -> tuple[dict[str, Level], ...]:
    """Every search for a load, under every combination of the other factors."""
    return tuple(each for one in studies(study) for each in _searches(one))


def _searches(one: WorkloadStudy) -> Iterator[dict[str, Level]]:
    others = {name: of for name, of in one.factors.items() if not name.startswith("load.")}
    combined = [
        dict(zip(others, each, strict=True)) for each in itertools.product(*others.values())
    ]
    for name in one.find:
        yield from ({FIND: name, **other} for other in combined)


def cells(study: Study) -> tuple[Cell, ...]:
    """Every system under every condition that it can meet."""
    missing = absent(study)
    every = (
        Cell(system=system, conditions=condition)
        for system in compared(study)
        for condition in conditions_of(study)
    )
    return tuple(cell for cell in every if cell not in missing)


def design_of(study: Study) -> Design:
    """Two systems are assigned at random by visit, more in blocks."""
    return "big_stick" if len(study.compared) == 2 else "double_blocks"


def assignment(seed: int, systems: Sequence[str], design: Design, visits: int) -> tuple[str, ...]:
    """The system of each of the first ``visits`` visits; longer assignments begin alike."""
    random = generator(seed, "coin")
    if design != "double_blocks":
        draw = big_stick if design == "big_stick" else pairs
        return tuple(systems[each] for each in draw(random, visits))
    drawn = blocks(random, len(systems), -(-visits // block_size(systems, design)), ROUNDS)
    return tuple(systems[i] for block in drawn for i in block)[:visits]


def block_size(systems: Sequence[str], design: Design) -> int:
    """Visits of one block: with the big-stick design each visit is one of its own."""
    return {"big_stick": 1, "pairs": 2, "double_blocks": ROUNDS * len(systems)}[design]


def visits(
    seed: int,
    assigned: Sequence[str],
    in_block: int,
    under: Sequence[dict[str, Level]],
    missing: Collection[Cell] = (),
) -> tuple[PlannedVisit, ...]:
    """Every visit of ``assigned`` with its trials, numbered from 1 over the whole plan.

    ``in_block`` visits make a block. Cells that do not exist are left out of the order that was
    drawn for all.
    """
    orders = condition_orders(generator(seed, "conditions"), len(under), len(assigned))
    cells = {
        system: [Cell(system=system, conditions=each) for each in under] for system in set(assigned)
    }
    absent = {
        system: {i for i, cell in enumerate(own) if cell in missing}
        for system, own in cells.items()
    }
    planned = []
    trials = itertools.count(1)
    for visit, (system, order) in enumerate(zip(assigned, orders, strict=True), start=1):
        planned_trials = tuple(
            PlannedTrial(trial=next(trials), visit=visit, cell=cells[system][i])
            for i in order
            if i not in absent[system]
        )
        block = (visit - 1) // in_block + 1
        planned.append(PlannedVisit(visit=visit, block=block, system=system, trials=planned_trials))
    return tuple(planned)
