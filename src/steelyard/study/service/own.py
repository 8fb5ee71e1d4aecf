"""What a study means by a service: one of the catalogue, or a file of the user's own."""

from __future__ import annotations

from collections.abc import Iterable

from steelyard.study import catalogue
from steelyard.study.file.complaints import Complaints
from steelyard.study.model import ServiceSpec, SystemSpec
from steelyard.study.own_files import OwnFiles
from steelyard.study.service.checks import mistakes
from steelyard.study.service.entry import Service
from steelyard.study.service.places import holds


def _check(entry: Service, complaints: Complaints) -> None:
    for mistake in mistakes(entry, catalogue.partners(entry)):
        complaints.add(mistake.where, mistake.message, mistake.hint)


def _refused(complaints: Complaints) -> None:
    if complaints.source.tree.get("shares"):
        message = "`shares` is for services of the catalogue"
        complaints.add(("shares",), message, "write the settings out", at_key=True)


FILES = OwnFiles(
    shelf="services",
    slug="service-file-is-wrong",
    model=Service,
    shipped=catalogue.service,
    check=_check,
    refused=_refused,
)
own_file, service_named, read_service = FILES.find, FILES.named, FILES.read
parse_service = FILES.parse


def known_service(spec: ServiceSpec) -> Service | None:
    """As :func:`service_of`; ``None`` when the study names a service that is not there."""
    return FILES.known(spec.use, spec.text)


def service_of(spec: ServiceSpec) -> Service:
    """What a service declares: its user's own file, or that of the catalogue."""
    return FILES.of(spec.use, spec.text)


def spoken(spec: ServiceSpec) -> tuple[str, ...]:
    """The protocols that a service speaks with these settings, its parts included."""
    entry = service_of(spec)
    said = None if entry.started else spec.settings.get("speaks")
    parts = [
        protocol
        for process in entry.processes.values()
        if holds(process.when, spec.settings)
        for protocol in catalogue.service(process.use).speaks
    ]
    return tuple(dict.fromkeys([*entry.speaks, *(said or ()), *parts]))


def own_texts(systems: Iterable[SystemSpec]) -> dict[str, str]:
    """Texts of the user's own services by the path that a run keeps them under."""
    specs = [system.service for system in systems if system.service is not None]
    return {FILES.kept_name(spec.use): spec.text for spec in specs if spec.text is not None}
