"""From a study to what is measured: conditions, cells, and the visits that a coin orders."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Literal

from steelyard.plan.model import Cell, PlannedTrial, PlannedVisit
from steelyard.plan.order import ROUNDS, big_stick, blocks, condition_orders, generator
from steelyard.study.model import FIND, Level, Study

Design = Literal["big_stick", "double_blocks"]


def compared(study: Study) -> tuple[str, ...]:
    """Names of what is compared, the baseline first, then in the order of the study."""
    names = [str(level) for level in study.compared]
    return (study.baseline, *(name for name in names if name != study.baseline))


def conditions(study: Study) -> tuple[dict[str, Level], ...]:
    """Every combination of the levels of all other factors; the last factor varies fastest.

    A study without any has one condition, which is empty.
    """
    levels = itertools.product(*study.factors.values())
    return tuple(dict(zip(study.factors, combination, strict=True)) for combination in levels)


def searches(study: Study) -> tuple[dict[str, Level], ...]:
    """Every search for a load, under every combination of the other factors."""
    others = {name: of for name, of in study.factors.items() if not name.startswith("load.")}
    combined = [
        dict(zip(others, each, strict=True)) for each in itertools.product(*others.values())
    ]
    return tuple({FIND: name, **other} for name in study.find for other in combined)


def cells(study: Study) -> tuple[Cell, ...]:
    """Every system under every condition."""
    return tuple(
        Cell(system=system, conditions=condition)
        for system in compared(study)
        for condition in conditions(study)
    )


def design_of(systems: Sequence[str]) -> Design:
    """Two systems share a coin; more of them are met in blocks of two rounds."""
    return "big_stick" if len(systems) == 2 else "double_blocks"


def coin(seed: int, systems: Sequence[str], visits: int) -> tuple[str, ...]:
    """The system of each of the first ``visits`` visits; longer coins begin alike."""
    random = generator(seed, "coin")
    if design_of(systems) == "big_stick":
        return tuple(systems[toss] for toss in big_stick(random, visits))
    drawn = blocks(random, len(systems), -(-visits // block_size(systems)), ROUNDS)
    return tuple(systems[i] for block in drawn for i in block)[:visits]


def block_size(systems: Sequence[str]) -> int:
    """Visits of one block: with the big-stick coin each visit is one of its own."""
    return 1 if design_of(systems) == "big_stick" else ROUNDS * len(systems)


def visits(
    seed: int,
    systems: Sequence[str],
    coins: Sequence[str],
    under: Sequence[dict[str, Level]],
) -> tuple[PlannedVisit, ...]:
    """Every visit of ``coins`` with its trials, numbered from 1 over the whole plan."""
    orders = condition_orders(generator(seed, "conditions"), len(under), len(coins))
    planned = []
    trials = itertools.count(1)
    for visit, (system, order) in enumerate(zip(coins, orders, strict=True), start=1):
        planned_trials = tuple(
            PlannedTrial(
                trial=next(trials),
                visit=visit,
                cell=Cell(system=system, conditions=under[i]),
            )
            for i in order
        )
        block = (visit - 1) // block_size(systems) + 1
        planned.append(PlannedVisit(visit=visit, block=block, system=system, trials=planned_trials))
    return tuple(planned)
