"""How the levels of a study's factors are written: with the unit that their author would write."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

from steelyard.study import catalogue
from steelyard.study.declared.machine import declared_setting
from steelyard.study.declared.setting import Setting
from steelyard.study.lookup import platform_of, service_of, workload_of
from steelyard.study.model import (
    SCENARIO,
    WORKLOAD,
    Level,
    Study,
    SystemSpec,
    WorkloadSpec,
)
from steelyard.units import format_level

_MACHINES = ("settings", "host_settings")


@dataclass(frozen=True)
class Labels:
    """Writes levels and conditions. ``kinds`` maps the factors that are settings to the kind of
    their values (``size``, ``rate``); a factor without a kind is written as it is.
    """

    kinds: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, study: Study) -> Self:
        """The labels of a study, by the settings that its factors are."""
        screened = () if study.screen is None else study.screen.factors
        names = (*study.factors, *screened, study.compare)
        found = {name: setting_of(name, study.systems, study.workloads) for name in names}
        return cls({name: setting.kind for name, setting in found.items() if setting is not None})

    def level(self, level: Level, factor: str) -> str:
        """A level of a factor: ``true``, ``64``, ``4 KiB``."""
        if isinstance(level, bool):
            return str(level).lower()
        return format_level(level, self.kinds.get(factor, ""))

    def conditions(self, conditions: Mapping[str, Level]) -> str:
        """All levels in one phrase: ``4 users, workload.block 4 KiB``; empty without any.

        Of several workloads the name of the workload leads: ``disk, two, block 4096``.
        """
        measured = str(conditions.get(WORKLOAD, ""))
        return ", ".join(self._condition(n, level, measured) for n, level in conditions.items())

    def place(self, system: str, conditions: Mapping[str, Level]) -> str:
        """A system and its conditions: ``nginx at 4 users``."""
        where = self.conditions(conditions)
        return f"{system} at {where}" if where else system

    def _condition(self, name: str, value: Level, measured: str) -> str:
        level = self.level(value, name)
        if name in {WORKLOAD, SCENARIO}:
            return level
        stage, _, rest = name.partition(".")
        if name == "load.rate":
            return f"{level}/s"
        if stage == "load" and rest:
            noun = rest[:-1] if level == "1" and rest.endswith("s") else rest
            return f"{level} {noun}"
        return f"{name.removeprefix(f'workloads.{measured}.')} {level}"


def level_names(
    factor: str,
    levels: Sequence[Level],
    systems: Mapping[str, SystemSpec],
    workloads: Mapping[str, WorkloadSpec],
) -> tuple[str, ...]:
    """Names of levels that are compared, each another one."""
    setting = setting_of(factor, systems, workloads)
    labels = Labels({} if setting is None else {factor: setting.kind})
    names = tuple(labels.level(level, factor) for level in levels)
    return names if len(set(names)) == len(names) else tuple(map(str, levels))


def name_of(written: str, named: Mapping[str, Level]) -> str | None:
    """The name of a compared level that is written as its name or as a bare number."""
    found = (name for name, level in named.items() if written in {name, str(level)})
    return next(found, None)


def setting_of(
    name: str, systems: Mapping[str, SystemSpec], workloads: Mapping[str, WorkloadSpec]
) -> Setting | None:
    """What a dotted name sets, where it names a setting."""
    place, _, key = name.rpartition(".")
    stage, _, rest = name.partition(".")
    if stage in _MACHINES:
        return declared_setting(rest)
    declared = _declared(place, systems, workloads)
    return next((found[key] for found in declared if key in found), None)


def _declared(
    place: str, systems: Mapping[str, SystemSpec], workloads: Mapping[str, WorkloadSpec]
) -> Iterator[Mapping[str, Setting]]:
    """Settings of everything that a factor of this place may mean."""
    stage, _, name = place.partition(".")
    if stage == "workload":
        for workload in workloads.values():
            yield workload_of(workload).settings
    elif stage == "workloads" and name in workloads:
        yield workload_of(workloads[name]).settings
    elif stage == "disks":
        yield catalogue.disk_settings()
    for system in systems.values():
        if stage == "system":
            yield platform_of(system).settings
        elif stage == "service" and system.service is not None:
            yield service_of(system.service).settings
