"""The latency probe of a study."""

from __future__ import annotations

from collections.abc import Mapping

from steelyard.study import catalogue
from steelyard.study.file.complaints import Complaints, choice_hint
from steelyard.study.file.grammar import StudyFile
from steelyard.study.file.source import Where
from steelyard.study.lookup import known_service, known_workload, spoken
from steelyard.study.model import ProbeSpec, SystemSpec, WorkloadSpec
from steelyard.study.resolve.settings import read_settings
from steelyard.study.workload.entry import Workload

_LEAST_S = 0.001


def resolve_probe(
    file: StudyFile,
    systems: Mapping[str, SystemSpec],
    workloads: Mapping[str, WorkloadSpec],
    complaints: Complaints,
) -> ProbeSpec | None:
    """The probe with every setting of what it uses, each operation on a connection of its own."""
    part = file.latency_probe
    if part is None:
        return None
    spec = ProbeSpec(use=part.use, every_s=part.every)
    if len(workloads) == 1:
        _check_load(workloads, complaints)
    _check_place(file, complaints)
    entry = _entry(part.use, complaints)
    if entry is None:
        return spec
    if part.every < _LEAST_S:
        hint = "write 1 ms or more; 100 ms hardly loads the server"
        complaints.add(
            ("latency_probe", "every"), "the interval of the latency probe is too short", hint
        )
    values, _ = read_settings(
        part.further(),
        entry.settings,
        ("latency_probe",),
        complaints,
        noun=f"settings of {part.use}",
    )
    fixed = entry.probe or {}
    for key in (key for key in fixed if values.get(key) != fixed[key] and key in part.further()):
        message = f"`{key}` of a latency probe is fixed: each operation has its own connection"
        complaints.add(("latency_probe", key), message, "take it out", at_key=True)
    if len(workloads) == 1:
        _check_services(part.use, systems, complaints)
    return spec.model_copy(update={"settings": values | fixed})


def _entry(use: str, complaints: Complaints) -> Workload | None:
    names = catalogue.names("workloads")
    if use not in names:
        hint = choice_hint(use, names, "workloads")
        complaints.add(("latency_probe", "use"), f"there is no workload `{use}`", hint)
        return None
    entry = catalogue.workload(use)
    if entry.probe is None:
        able = [name for name in names if catalogue.workload(name).probe is not None]
        hint = f"workloads with a connection for each operation: {', '.join(able)}"
        complaints.add(("latency_probe", "use"), f"`{use}` cannot be a probe", hint)
        return None
    return entry


def _check_load(workloads: Mapping[str, WorkloadSpec], complaints: Complaints) -> None:
    for workload in workloads.values():
        entry = known_workload(workload)
        if entry is not None and not entry.is_load:
            hint = "take it out, or drive a load"
            message = f"a latency probe needs a load, and `{workload.use}` is none"
            complaints.add(("latency_probe",), message, hint, at_key=True)


def _check_place(file: StudyFile, complaints: Complaints) -> None:
    hosts = [] if file.generator is None else file.generator.host or []
    for host in (host for host in hosts if host.startswith("instance")):
        hint = "take it out, or let the load come from a machine"
        message = f"a probe cannot come from `{host}`"
        complaints.add(("latency_probe",), message, hint, at_key=True)


def _check_services(use: str, systems: Mapping[str, SystemSpec], complaints: Complaints) -> None:
    entry = catalogue.workload(use)
    for name, system in systems.items():
        service = system.service
        if service is None or known_service(service) is None:
            continue  # complained about where it matters
        where: Where = ("latency_probe", "use")
        if not entry.fits(spoken(service)):
            speaks = ", ".join(spoken(service))
            message = f"`{service.use}` of system `{name}` speaks {speaks}, the probe does not"
            complaints.add(where, message, f"choose a probe for {speaks}, or `tcp-connect`")
