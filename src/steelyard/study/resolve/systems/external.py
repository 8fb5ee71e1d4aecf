"""What a study cannot ask of a system that carries no agent, named before anything starts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from steelyard.study.file.complaints import Complaints
from steelyard.study.file.grammar import StudyFile
from steelyard.study.lookup import has_agent, known_service, known_workload
from steelyard.study.model import SystemSpec, WorkloadSpec

_LOAD = "an agent would be needed there; drive a load at its service, from the generator"


def check_external(
    file: StudyFile,
    systems: Mapping[str, SystemSpec],
    workloads: Mapping[str, WorkloadSpec],
    complaints: Complaints,
) -> None:
    """Complains of everything that something inside would have to do."""
    without = {name: system for name, system in systems.items() if not has_agent(system)}
    for number, (name, system) in enumerate(without.items()):
        of_study = () if number else _of_study(file, workloads)
        for message, hint in (*_of_system(system), *of_study):
            full = f"`{name}` carries no agent: {message}"
            complaints.add(("systems", name), full, hint, at_key=True)


def _of_system(system: SystemSpec) -> Iterator[tuple[str, str]]:
    service = None if system.service is None else known_service(system.service)
    if system.service is None or (service is not None and service.started):
        hint = 'write `service: {use: external, address: "HOST:80", speaks: http}`'
        yield "its service cannot be started", hint
    parts = {
        "disks": system.disks,
        "settings": system.inside,
        "host_settings": system.outside,
        "instances": system.instances > 1,
    }
    for key, written in parts.items():
        if written:
            yield f"`{key}` cannot be had there", "take it out"


def _of_study(file: StudyFile, workloads: Mapping[str, WorkloadSpec]) -> Iterator[tuple[str, str]]:
    for workload in workloads.values():
        entry = known_workload(workload)
        if entry is not None and entry.is_tool and entry.on == "system":
            yield f"`{workload.use}` cannot be run there", _LOAD
        if workload.service is not None:
            yield f"a service of `{workload.use}` cannot be started", "give the system its service"
    if file.caches is not None and file.caches != "kept":
        yield "its caches cannot be dropped", "write `caches: kept`"
    if file.clock == "system":
        yield "its clock cannot be read", "write `clock: controller`"
    if any((event.on or "system") in ("system", "host") for event in (file.events or {}).values()):
        yield "no event can happen there", "give the event the address of a machine with `on`"
