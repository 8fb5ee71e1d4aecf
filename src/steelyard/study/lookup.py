"""What a study means by the name of a platform, a service, a meter or a workload.

Each is one of the catalogue, or a file of the user's own whose text the study holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from steelyard.errors import Complaint
from steelyard.study import catalogue
from steelyard.study.catalogue import Platform
from steelyard.study.declared import responses as declared
from steelyard.study.declared.conditions import holds
from steelyard.study.declared.own_files import OwnFiles
from steelyard.study.declared.responses import Response
from steelyard.study.file.complaints import Complaints
from steelyard.study.meter.checks import mistakes as meter_mistakes
from steelyard.study.meter.entry import Meter
from steelyard.study.meter.entry import SharedSettings as MeterSettings
from steelyard.study.model import MeterSpec, ServiceSpec, Study, SystemSpec, WorkloadSpec
from steelyard.study.platform.checks import check as check_platform
from steelyard.study.platform.settings import SharedSettings as PlatformSettings
from steelyard.study.service.checks import mistakes as service_mistakes
from steelyard.study.service.entry import Service
from steelyard.study.service.entry import SharedSettings as ServiceSettings
from steelyard.study.settings import model_mistakes
from steelyard.study.workload.checks import mistakes as workload_mistakes
from steelyard.study.workload.checks import setting_mistakes
from steelyard.study.workload.entry import Workload, response_of
from steelyard.study.workload.settings import SharedSettings as WorkloadSettings

EXTERNAL = "external"
"""The platform of machines that carry no agent."""
EVENT_PLACES = ("system", "host", "generator")
"""Where an event may be without an address."""
EVENT_WORDS = ("pid", "system", "instance", "folder", "data", "study")
"""What the command of an event may name, besides disks."""
AnyFiles = OwnFiles[Platform] | OwnFiles[Service] | OwnFiles[Meter] | OwnFiles[Workload]
_CATALOGUE_ONLY = ("shares", "calibration", "probe", "request_times")


def _check_platform(entry: Platform, complaints: Complaints) -> None:
    check_platform(entry, complaints)
    complaints.add_all(model_mistakes(PlatformSettings, entry.settings, whole=False))


def _check_service(entry: Service, complaints: Complaints) -> None:
    complaints.add_all(service_mistakes(entry, catalogue.partners(entry)))
    complaints.add_all(model_mistakes(ServiceSettings, entry.settings, whole=False))


def _refuse_in_service(complaints: Complaints) -> None:
    if complaints.source.tree.get("shares"):
        message = "`shares` is for services of the catalogue"
        complaints.add(("shares",), message, "write the settings out", at_key=True)


def _check_meter(entry: Meter, complaints: Complaints) -> None:
    complaints.add_all(meter_mistakes(entry))
    complaints.add_all(model_mistakes(MeterSettings, entry.settings, whole=False))


def _check_workload(entry: Workload, complaints: Complaints) -> None:
    complaints.add_all(model_mistakes(WorkloadSettings, entry.settings, whole=False))
    if entry.is_tool:
        complaints.add_all(workload_mistakes(entry, declared.responses()))
        return
    complaints.add_all(setting_mistakes(entry))
    hint = "write `command: [PROGRAM, ...]`: the words that are measured"
    complaints.add(("command",), "there is no command", hint)


def _refuse_in_workload(complaints: Complaints) -> None:
    for key in _CATALOGUE_ONLY:
        if complaints.source.tree.get(key):
            message = f"`{key}` is for workloads of the catalogue"
            complaints.add((key,), message, "take it out", at_key=True)


PLATFORM_FILES = OwnFiles(
    shelf="platforms",
    slug="platform-file-is-wrong",
    model=Platform,
    shipped=catalogue.platform,
    check=_check_platform,
)
SERVICE_FILES = OwnFiles(
    shelf="services",
    slug="service-file-is-wrong",
    model=Service,
    shipped=catalogue.service,
    check=_check_service,
    refused=_refuse_in_service,
)
METER_FILES = OwnFiles(
    shelf="meters",
    slug="meter-file-is-wrong",
    model=Meter,
    shipped=catalogue.meter,
    check=_check_meter,
)
WORKLOAD_FILES = OwnFiles(
    shelf="workloads",
    slug="workload-file-is-wrong",
    model=Workload,
    shipped=catalogue.workload,
    check=_check_workload,
    refused=_refuse_in_workload,
)


def known_platform(spec: SystemSpec) -> Platform | None:
    """As :func:`platform_of`; ``None`` when the study names a platform that is not there."""
    return PLATFORM_FILES.known(spec.platform, spec.platform_text)


def platform_of(spec: SystemSpec) -> Platform:
    """The platform that a system lives on."""
    return PLATFORM_FILES.of(spec.platform, spec.platform_text)


def has_agent(spec: SystemSpec) -> bool:
    """Whether an agent runs inside of a system, so that something is known of it."""
    return spec.platform != EXTERNAL


def known_service(spec: ServiceSpec) -> Service | None:
    """As :func:`service_of`; ``None`` when the study names a service that is not there."""
    return SERVICE_FILES.known(spec.use, spec.text)


def service_of(spec: ServiceSpec) -> Service:
    """What a service declares."""
    return SERVICE_FILES.of(spec.use, spec.text)


def ready_timeout_s(spec: ServiceSpec) -> float:
    """How long a service may take to be ready: as the study says, else its file."""
    return spec.ready_timeout_s or service_of(spec).ready_timeout


def meter_of(spec: MeterSpec) -> Meter:
    """What a meter declares."""
    return METER_FILES.of(spec.use, spec.text)


def spoken(spec: ServiceSpec) -> tuple[str, ...]:
    """The protocols that a service speaks with these settings, its parts included."""
    entry = service_of(spec)
    written = None if entry.started else ServiceSettings.of(spec.settings).speaks
    parts = [
        protocol
        for process in entry.processes.values()
        if holds(process.when, spec.settings)
        for protocol in catalogue.service(process.use).speaks
    ]
    return tuple(dict.fromkeys([*entry.speaks, *(written or ()), *parts]))


def known_workload(spec: WorkloadSpec) -> Workload | None:
    """As :func:`workload_of`; ``None`` when the study names a workload that is not there."""
    entry = WORKLOAD_FILES.known(spec.use, spec.text)
    return None if entry is None else entry.spoken_with(spec.settings)


def workload_of(spec: WorkloadSpec) -> Workload:
    """What a workload declares."""
    return WORKLOAD_FILES.of(spec.use, spec.text).spoken_with(spec.settings)


def responses_of(entries: Iterable[Workload], events: Iterable[str] = ()) -> dict[str, Response]:
    """Every response by name where these workloads are driven: standard ones, of the events of a
    study, metrics of tools.
    """
    known = dict(declared.responses(tuple(events)))
    for entry in entries:
        for name, metric in entry.metrics.items():
            known.setdefault(name, response_of(metric, None))
    return known


def responses_in(study: Study) -> dict[str, Response]:
    """Every response that a study can have."""
    return responses_of((workload_of(spec) for spec in study.workloads.values()), study.events)


def machines_of_events(study: Study) -> dict[str, str]:
    """Machines that an event names by their address, by its name."""
    return {n: each.on for n, each in study.events.items() if each.on not in EVENT_PLACES}


def own_texts(
    systems: Iterable[SystemSpec], workloads: Iterable[WorkloadSpec] = ()
) -> dict[str, str]:
    """Texts of the user's own files by the path that a run keeps them under."""
    own = _own_files(tuple(systems), workloads)
    return {files.kept_name(name): text for files, name, text in own}


def renamed_in_own_files(study: Study, path: Path) -> list[Complaint]:
    """A notice for each old key of the user's own files that a study at ``path`` names."""
    driven = [*study.workloads.values(), *study.background.values()]
    own = _own_files(tuple(study.systems.values()), driven)
    found = {file: files for files, name, _ in own if (file := files.find(name, path))}
    return [notice for file, files in found.items() for notice in files.renamed_keys(file)]


def _own_files(
    systems: tuple[SystemSpec, ...], workloads: Iterable[WorkloadSpec]
) -> Iterator[tuple[AnyFiles, str, str]]:
    """Every file of the user's own that is named: its kind, its name, its text."""
    platforms = {s.platform: s.platform_text for s in systems}
    services = {s.service.use: s.service.text for s in systems if s.service is not None}
    meters = {s.meter.use: s.meter.text for s in systems if s.meter is not None}
    driven = {spec.use: spec.text for spec in workloads}
    kinds: list[tuple[AnyFiles, dict[str, str | None]]] = [
        (PLATFORM_FILES, platforms),
        (SERVICE_FILES, services),
        (METER_FILES, meters),
        (WORKLOAD_FILES, driven),
    ]
    for files, texts in kinds:
        yield from ((files, name, text) for name, text in texts.items() if text is not None)
