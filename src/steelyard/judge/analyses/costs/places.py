"""From the records of threads to where the instances of a system ran."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence

from steelyard.judge.analyses.costs.findings import PlacementFinding, ThreadsFinding
from steelyard.plan.model import Plan
from steelyard.records.schema import Outcome, PlacementRecord, TrialRecord
from steelyard.study.bind import bound_system
from steelyard.study.platform.settings import SharedSettings
from steelyard.study.workload_study import WorkloadStudy

_NUMBER = re.compile(r"\d+")

Declared = tuple[tuple[str, str], ...]
Seen = list[tuple[PlacementRecord, ...]]
"""The placements of one instance in each of several trials."""


def placement_findings(
    study: WorkloadStudy, plan: Plan, records: Sequence[TrialRecord]
) -> Iterator[PlacementFinding]:
    """Each instance of each system, apart by what was declared."""
    found: dict[tuple[str, Declared, int], Seen] = defaultdict(list)
    for record in records:
        if record.outcome is Outcome.OK:
            declared = _declared(study, record)
            for each in record.instances:
                if each.placements:
                    found[record.cell.system, declared, each.instance].append(each.placements)
    order = {name: place for place, name in enumerate(plan.systems)}
    for key in sorted(found, key=lambda key: (order.get(key[0], len(order)), *key)):
        system, declared, instance = key
        yield PlacementFinding(
            system=system,
            instance=instance,
            declared=dict(declared),
            trials=len(found[key]),
            threads=tuple(_grouped(found[key])),
        )


def _declared(study: WorkloadStudy, record: TrialRecord) -> Declared:
    """The settings of a cell that name CPUs."""
    settings = SharedSettings.of(bound_system(study, record.cell).settings)
    within = None if settings.confine is None else settings.confine.cpuset
    named = {"cpuset": settings.cpuset or within, "vcpu_cpus": settings.vcpu_cpus}
    return tuple((name, cpus) for name, cpus in named.items() if cpus is not None)


def _grouped(trials: Seen) -> Iterator[ThreadsFinding]:
    """Threads of one process together that may run in the same places."""
    named: dict[tuple[str, str, str], list[PlacementRecord]] = defaultdict(list)
    for each in (each for placements in trials for each in placements):
        named[each.machine, each.process, each.thread].append(each)
    groups: dict[tuple[str, ...], dict[str, list[PlacementRecord]]] = defaultdict(dict)
    for (machine, process, name), own in named.items():
        allowed = sorted({each.allowed_cpus for each in own})
        groups[machine, process, *allowed][name] = own
    for (machine, process, *allowed), threads in sorted(groups.items()):
        every = [each for own in threads.values() for each in own]
        yield ThreadsFinding(
            machine=machine,
            process=process,
            names=tuple(_families(threads)),
            threads=max(_counts(trials, machine, process, set(threads))),
            allowed_cpus=tuple(allowed),
            last_cpus=tuple(sorted({cpu for each in every for cpu in each.last_cpus})),
            moved=_moved(threads.values()),
        )


def _families(names: Collection[str]) -> Iterator[str]:
    """Each name; those that differ by their numbers alone once."""
    families: dict[str, list[str]] = defaultdict(list)
    for name in sorted(names):
        families[_NUMBER.sub("#", name)].append(name)
    for family, own in families.items():
        yield own[0] if len(own) == 1 else family


def _counts(trials: Seen, machine: str, process: str, names: set[str]) -> Iterator[int]:
    for placements in trials:
        yield sum(
            each.threads
            for each in placements
            if (each.machine, each.process) == (machine, process) and each.thread in names
        )


def _moved(threads: Collection[list[PlacementRecord]]) -> bool | None:
    """Whether one was last seen elsewhere in another trial; of a name that several bear none is
    told.
    """
    told = [own for own in threads if len(own) > 1 and all(each.threads == 1 for each in own)]
    if not told:
        return None
    return any(len({cpu for each in own for cpu in each.last_cpus}) > 1 for own in told)
