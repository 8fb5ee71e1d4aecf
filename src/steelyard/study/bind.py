"""What one cell sets: the levels of its conditions put where their dotted names say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from steelyard.study.model import Level, LoadSpec, ServiceSpec, Study, SystemSpec, WorkloadSpec


class OneCell(Protocol):
    """A compared system and a level of every condition; the plan's ``Cell`` is one."""

    @property
    def system(self) -> str: ...
    @property
    def conditions(self) -> Mapping[str, Level]: ...


@dataclass(frozen=True)
class BoundCell:
    """Everything one trial needs to know of its cell.

    Exactly one of ``users`` and ``rate_per_s`` is set when there is a ``load``.
    """

    system: SystemSpec
    workload: WorkloadSpec
    load: LoadSpec | None
    users: int | None
    rate_per_s: float | None

    @property
    def service(self) -> ServiceSpec:
        """The server under test; reading the study has refused a loaded system without one."""
        if self.system.service is None:
            raise ValueError(f"system {self.system.name} has no service")
        return self.system.service


def bind(study: Study, cell: OneCell) -> BoundCell:
    """The system, workload and load of a cell, every factor at its level."""
    users = cell.conditions.get("load.users")
    rate = cell.conditions.get("load.rate")
    return BoundCell(
        system=study.systems[cell.system],
        workload=_workload(study, cell.conditions),
        load=study.load,
        users=None if users is None else int(users),
        rate_per_s=None if rate is None else float(rate),
    )


def _workload(study: Study, conditions: Mapping[str, Level]) -> WorkloadSpec:
    name, workload = next(iter(study.workloads.items()))
    settings = dict(workload.settings)
    for factor, level in conditions.items():
        for prefix in ("workload.", f"workloads.{name}."):
            if factor.startswith(prefix):
                settings[factor.removeprefix(prefix)] = level
    return workload.model_copy(update={"settings": settings})
