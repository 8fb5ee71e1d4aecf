"""What kind of value each factor of a study has, so that a level is said as people write it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from steelyard.study import catalogue
from steelyard.study.declared.machine import declared_setting
from steelyard.study.declared.setting import Setting
from steelyard.study.lookup import platform_of, service_of, workload_of
from steelyard.study.model import Study

_MACHINES = ("settings", "host_settings")


def level_kinds(study: Study) -> dict[str, str]:
    """The kind of value of every factor that is a setting, by the name of the factor."""
    screened = () if study.screen is None else study.screen.factors
    names = (*study.factors, *screened, study.compare)
    found = {name: _setting(name, study) for name in names}
    return {name: setting.kind for name, setting in found.items() if setting is not None}


def _setting(name: str, study: Study) -> Setting | None:
    place, _, key = name.rpartition(".")
    stage, _, rest = name.partition(".")
    if stage in _MACHINES:
        return declared_setting(rest)
    return next((found[key] for found in _declared(place, study) if key in found), None)


def _declared(place: str, study: Study) -> Iterator[Mapping[str, Setting]]:
    """Settings of everything that a factor of this place may mean."""
    stage, _, name = place.partition(".")
    if stage == "workload":
        yield workload_of(study.workload).settings
    elif stage == "workloads" and name in study.workloads:
        yield workload_of(study.workloads[name]).settings
    elif stage == "disks":
        yield catalogue.disk_settings()
    for system in study.systems.values():
        if stage == "system":
            yield platform_of(system).settings
        elif stage == "service" and system.service is not None:
            yield service_of(system.service).settings
