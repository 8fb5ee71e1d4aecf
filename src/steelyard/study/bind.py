"""What one cell sets: the levels of its factors put where their dotted names say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from steelyard.study.lookup import workload_of
from steelyard.study.model import (
    FIND,
    SCENARIO,
    FindSpec,
    Level,
    LoadSpec,
    ServiceSpec,
    Study,
    StudyDesign,
    SystemSpec,
    WorkloadSpec,
)
from steelyard.study.scenarios import WorkloadPlacement, placed_spec, placement_of, workload_name
from steelyard.study.service.entry import SharedSettings as ServiceSettings
from steelyard.study.workload.settings import AS_SERVICE
from steelyard.study.workload_study import WorkloadStudy, study_of


class OneCell(Protocol):
    """A compared level and a level of every condition; the plan's ``Cell`` is one."""

    @property
    def system(self) -> str: ...
    @property
    def conditions(self) -> Mapping[str, Level]: ...


@dataclass(frozen=True)
class BoundCell:
    """Everything one trial needs to know of its cell.

    ``study`` is the measured workload within the study. Exactly one of ``users`` and ``rate_per_s``
    is set when there is a ``load``. ``background`` is what some instances run instead of the
    workload, by their number, ``co_located`` what runs together with it on one instance. With
    ``find`` the load is looked for, and neither is set.
    """

    study: WorkloadStudy
    system: SystemSpec
    workload: WorkloadSpec
    load: LoadSpec | None
    users: int | None
    rate_per_s: float | None
    background: Mapping[int, WorkloadSpec] = field(default_factory=dict)
    co_located: Mapping[int, tuple[WorkloadSpec, ...]] = field(default_factory=dict)
    scenario: bool = False
    """Whether a scenario says what runs where; its background workloads repeat to the end."""
    find: FindSpec | None = None

    def workload_of(self, instance: int) -> WorkloadSpec:
        """What the instance of this number runs, counted from 1."""
        return self.background.get(instance, self.workload)

    def service_of(self, instance: int) -> ServiceSpec | None:
        """The server that an instance needs: of what it runs, else of the system.

        Among several workloads one that speaks with no server starts none.
        """
        runs = (self.workload_of(instance), *self.co_located.get(instance, ()))
        own = next((each.service for each in runs if each.service is not None), None)
        speaks = any(workload_of(each).speaks for each in runs)
        return own or (self.system.service if speaks or not self.study.among else None)


def bind(study: Study, cell: OneCell) -> BoundCell:
    """The system, workload and load of a cell, every factor at its level."""
    levels = dict(_levels(study, cell))
    users, rate = levels.get("load.users"), levels.get("load.rate")
    placement = _placement(study, levels)
    system = bound_system(study, cell)
    if placement is not None:
        system = system.model_copy(update={"instances": placement.instances})
    own = study_of(study, levels)
    workload = _workload(study, levels, placement or WorkloadPlacement())
    return BoundCell(
        study=own,
        system=system,
        workload=secured_as_served(workload, system),
        load=own.load,
        users=None if users is None else int(users),
        rate_per_s=None if rate is None else float(rate),
        background=study.background if placement is None else placement.background,
        co_located={} if placement is None else placement.co_located,
        scenario=placement is not None,
        find=study.find.get(str(levels.get(FIND))),
    )


def bound_system(study: StudyDesign, cell: OneCell) -> SystemSpec:
    """The system of a cell, every factor at its level; its instances those that it declares."""
    levels = dict(_levels(study, cell))
    system = study.systems[str(levels.get("system", next(iter(study.systems))))]
    for factor, level in levels.items():
        system = system.model_copy(update=_changed(system, factor, level))
    return system


def _levels(study: StudyDesign, cell: OneCell) -> Iterator[tuple[str, Level]]:
    """Every factor of a cell with its level, the compared one included.

    A cell names the compared level in words.
    """
    yield from cell.conditions.items()
    if study.compare in cell.conditions:  # a screen, which names its system
        yield "system", cell.system
        return
    yield study.compare, study.named.get(cell.system, cell.system)


def _changed(system: SystemSpec, factor: str, level: Level) -> dict[str, object]:
    """What the level of ``system.nic``, ``service.sync`` or ``disks.data.layout`` changes."""
    part, _, rest = factor.partition(".")
    if factor == "system.instances":
        return {"instances": int(level)}
    if part == "system" and rest:
        return {"settings": system.settings | {rest: level}}
    if part in ("settings", "host_settings"):
        field = "inside" if part == "settings" else "outside"
        return {field: getattr(system, field) | {rest: level}}
    disk, _, key = rest.partition(".")
    if part == "disks" and disk in system.disks:
        return {"disks": system.disks | {disk: system.disks[disk] | {key: level}}}
    if part == "service" and system.service is not None:
        settings = system.service.settings | {rest: level}
        return {"service": system.service.model_copy(update={"settings": settings})}
    return {}


def secured_as_served(workload: WorkloadSpec, system: SystemSpec) -> WorkloadSpec:
    """The workload with the TLS of its server, where it says that it follows that."""
    if workload.settings.get("tls") != AS_SERVICE:
        return workload
    service = workload.service or system.service
    offered = None if service is None else ServiceSettings.of(service.settings).tls
    return workload.model_copy(update={"settings": workload.settings | {"tls": offered or "none"}})


def _placement(study: Study, levels: Mapping[str, Level]) -> WorkloadPlacement | None:
    """Who does what in the scenario of a cell; ``None`` without scenarios."""
    scenario = study.scenarios.get(str(levels.get(SCENARIO)))
    return None if scenario is None else placement_of(study, scenario, workload_name(study, levels))


def _workload(
    study: Study, levels: Mapping[str, Level], placement: WorkloadPlacement
) -> WorkloadSpec:
    name = workload_name(study, levels)
    workload = study.workloads[name]
    settings = dict(workload.settings)
    for factor, level in levels.items():
        for prefix in ("workload.", f"workloads.{name}."):
            if factor.startswith(prefix):
                settings[factor.removeprefix(prefix)] = level
    return placed_spec(workload.model_copy(update={"settings": settings}), placement.settings)
