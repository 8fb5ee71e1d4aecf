"""Trials of several machines: the rows of each, and every reason to refuse them together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations

from steelyard.judge.own_trials.arguments import Declared
from steelyard.judge.own_trials.arrays import Entry
from steelyard.judge.own_trials.rows import (
    REFUSED_BITS,
    Design,
    TrialRows,
    TrialsError,
    Visit,
    chance_bits,
    visits_of,
)

LEAST_VISITS_OF_ONE = 2


def rows_by_machine(rows: TrialRows, machines: Sequence[str]) -> dict[str, TrialRows]:
    """The rows of each machine in their order; machines as they appear.

    Raises:
        TrialsError: not one machine for each trial.
    """
    if len(machines) != len(rows.system):
        raise TrialsError(
            f"`system` has {len(rows.system)} entries and `machine` has {len(machines)}",
            "give one entry for each trial in each of them",
        )
    places: dict[str, list[int]] = {}
    for place, machine in enumerate(machines):
        places.setdefault(machine, []).append(place)
    return {machine: _picked(rows, own) for machine, own in places.items()}


def _picked(rows: TrialRows, places: Sequence[int]) -> TrialRows:
    def picked(column: Sequence[Entry] | None) -> list[Entry] | None:
        return None if column is None else [column[place] for place in places]

    return TrialRows(
        system=[rows.system[place] for place in places],
        response=[rows.response[place] for place in places],
        load=picked(rows.load),
        visit=picked(rows.visit),
        block=picked(rows.block),
        covariate=picked(rows.covariate),
    )


def visits_by_machine(
    by_machine: Mapping[str, TrialRows], declared: Declared
) -> dict[str, list[Visit]]:
    """The visits of each machine.

    Raises:
        TrialsError: the rows of a machine cannot be judged by themselves, or not with the others.
    """
    _same_systems(by_machine, declared.baseline)
    _one_load(by_machine)
    found = {name: _visits(name, rows, declared) for name, rows in by_machine.items()}
    if declared.design == "none":
        _as_many_on_each(found)
    else:
        _drawn_apart(found, declared.design)
    return found


def _visits(machine: str, rows: TrialRows, declared: Declared) -> list[Visit]:
    try:
        return visits_of(rows, declared.baseline, declared.design)
    except TrialsError as error:
        raise TrialsError(
            f"machine `{machine}`: {error.message}",
            f"{error.hint}; each machine needs a random order of its own, drawn by the same design"
            if error.column == "system"
            else error.hint or "",
            row=error.row,
            column=error.column,
            machine=machine,
        ) from error


def _same_systems(by_machine: Mapping[str, TrialRows], baseline: str) -> None:
    systems = list(dict.fromkeys(name for rows in by_machine.values() for name in rows.system))
    if baseline not in systems:
        raise TrialsError(
            f"no trial is of the baseline `{baseline}`",
            f"the systems are: {', '.join(systems)}",
            argument="baseline",
        )
    for machine, rows in by_machine.items():
        if missing := [name for name in systems if name not in rows.system]:
            raise TrialsError(
                f"machine `{machine}` has no trial of {', '.join(missing)}",
                "every machine carries all systems; leave out the trials of this machine, or of "
                "these systems",
                row=1,
                column="machine",
                machine=machine,
            )


def _one_load(by_machine: Mapping[str, TrialRows]) -> None:
    for machine, rows in by_machine.items():
        if rows.load is not None:
            raise TrialsError(
                "trials of several machines at several loads are not judged together",
                "give the trials of one load, or those of one machine",
                column="load",
                machine=machine,
            )


def _drawn_apart(visits: Mapping[str, list[Visit]], design: Design) -> None:
    """Refuse one order for two machines: what both feel at one time would count twice."""
    orders = {name: [visit.system for visit in own] for name, own in visits.items()}
    for (one, its), (another, others) in combinations(orders.items(), 2):
        count = min(len(its), len(others))
        bits = float(chance_bits(its[:count], design).sum())
        if its[:count] == others[:count] and bits >= REFUSED_BITS:
            raise TrialsError(
                f"machines `{one}` and `{another}` have the same order in {count} visits: orders "
                f"that are drawn apart do that once in {round(2**bits):,} times",
                "draw the order of each machine by itself; of machines that share one order, judge "
                "each from a file of its own",
                row=1,
                column="machine",
                machine=another,
            )


def _as_many_on_each(visits: Mapping[str, list[Visit]]) -> None:
    """Of an order that was not drawn all visits count at once, so none can be left out."""
    counts = {name: Counter(visit.system for visit in own) for name, own in visits.items()}
    first, *rest = counts.items()
    for machine, own in rest:
        if own.total() != first[1].total():
            raise TrialsError(
                f"machine `{machine}` has {own.total()} visits and `{first[0]}` has "
                f"{first[1].total()}",
                "with the design `none`, give as many visits of each machine",
                machine=machine,
            )
    for machine, own in counts.items():
        if few := [name for name, count in own.items() if count < LEAST_VISITS_OF_ONE]:
            raise TrialsError(
                f"machine `{machine}` has one visit of {few[0]}, which shows no spread",
                f"give at least {LEAST_VISITS_OF_ONE} visits of each system on each machine",
                machine=machine,
            )
