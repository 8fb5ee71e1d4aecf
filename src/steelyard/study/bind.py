"""What one cell sets: the levels of its factors put where their dotted names say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from steelyard.study.model import (
    FIND,
    FindSpec,
    Level,
    LoadSpec,
    ServiceSpec,
    Study,
    SystemSpec,
    WorkloadSpec,
)


class OneCell(Protocol):
    """A compared level and a level of every condition; the plan's ``Cell`` is one."""

    @property
    def system(self) -> str: ...
    @property
    def conditions(self) -> Mapping[str, Level]: ...


@dataclass(frozen=True)
class BoundCell:
    """Everything one trial needs to know of its cell.

    Exactly one of ``users`` and ``rate_per_s`` is set when there is a ``load``. ``beside`` is what
    some instances run instead of the workload, by their number. With ``find`` the load is looked
    for, and neither is set.
    """

    system: SystemSpec
    workload: WorkloadSpec
    load: LoadSpec | None
    users: int | None
    rate_per_s: float | None
    beside: Mapping[int, WorkloadSpec] = field(default_factory=dict)
    find: FindSpec | None = None

    @property
    def service(self) -> ServiceSpec:
        """The server under test; reading the study has refused a loaded system without one."""
        if self.system.service is None:
            raise ValueError(f"system {self.system.name} has no service")
        return self.system.service

    def workload_of(self, instance: int) -> WorkloadSpec:
        """What the instance of this number runs, counted from 1."""
        return self.beside.get(instance, self.workload)


def bind(study: Study, cell: OneCell) -> BoundCell:
    """The system, workload and load of a cell, every factor at its level."""
    levels = dict(_levels(study, cell))
    users, rate = levels.get("load.users"), levels.get("load.rate")
    return BoundCell(
        system=_system(study, levels),
        workload=_workload(study, levels),
        load=study.load,
        users=None if users is None else int(users),
        rate_per_s=None if rate is None else float(rate),
        beside=study.beside,
        find=study.find.get(str(levels.get(FIND))),
    )


def _levels(study: Study, cell: OneCell) -> Iterator[tuple[str, Level]]:
    """Every factor of a cell with its level, the compared one included.

    A cell names the compared level in words; it is looked up so that a number stays one.
    """
    yield from cell.conditions.items()
    if study.compare in cell.conditions:  # a screen, which names its system
        yield "system", cell.system
        return
    named = (level for level in study.compared if str(level) == cell.system)
    yield study.compare, next(named, cell.system)


def _system(study: Study, levels: Mapping[str, Level]) -> SystemSpec:
    name = str(levels.get("system", next(iter(study.systems))))
    system = study.systems[name].model_dump()
    for factor, level in levels.items():
        _put(system, factor, level)
    return SystemSpec.model_validate(system)


_PARTS = {"settings": "inside", "host_settings": "outside"}


def _put(system: dict[str, Any], factor: str, level: Level) -> None:
    """Puts the level of ``system.nic``, ``service.sync`` or ``disks.data.layout`` in place."""
    part, _, rest = factor.partition(".")
    if factor == "system.instances":
        system["instances"] = level
    elif part == "system" and rest:
        system["settings"][rest] = level
    elif part == "disks":
        disk, _, key = rest.partition(".")
        if disk in system["disks"]:
            system["disks"][disk][key] = level
    elif part == "service" and system["service"] is not None:
        system["service"]["settings"][rest] = level
    elif part in _PARTS:
        system[_PARTS[part]][rest] = level


def _workload(study: Study, levels: Mapping[str, Level]) -> WorkloadSpec:
    name, workload = next(iter(study.workloads.items()))
    settings = dict(workload.settings)
    for factor, level in levels.items():
        for prefix in ("workload.", f"workloads.{name}."):
            if factor.startswith(prefix):
                settings[factor.removeprefix(prefix)] = level
    return workload.model_copy(update={"settings": settings})
