"""What a study means by a service: one of the catalogue, or a file of the user's own.

``use: ./my-server.yaml`` names a file beside the study, ``use: my-server`` the file
``services/my-server.yaml`` there. The folder of a run keeps copies in its own ``services``, where
they are found again.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path

from pydantic import ValidationError

from steelyard.errors import Complaint, StudyError
from steelyard.study import catalogue
from steelyard.study.file.complaints import Complaints, add_validation
from steelyard.study.file.source import Source, parse_source
from steelyard.study.model import ServiceSpec, SystemSpec
from steelyard.study.service.checks import Mistake, mistakes
from steelyard.study.service.entry import Service
from steelyard.study.service.places import holds

FOLDER = "services"


def service_named(name: str, study: Path) -> tuple[Service, str | None] | None:
    """What a study means by the name of a service, and the text of a file of the user's own.

    Raises:
        StudyError: the user's own file is wrong.
    """
    if name in catalogue.names("services"):
        return catalogue.service(name), None
    file = own_file(name, study)
    return None if file is None else (read_service(file), file.read_text(encoding="utf-8"))


def own_file(name: str, study: Path) -> Path | None:
    """The user's own file that a study means with this name, if there is one.

    ``study`` is the study's file or folder. A name of the catalogue never means a file.
    """
    beside = study if study.is_dir() else study.parent
    if _is_path(name):
        found = [beside / name, beside / FOLDER / Path(name).name]
    else:
        found = [beside / FOLDER / f"{name}.yaml"]
    return next((file for file in found if file.is_file()), None)


def read_service(path: Path) -> Service:
    """A service from a file of its own.

    Raises:
        StudyError: every mistake in it, with line and column.
    """
    try:
        raw = path.read_bytes()
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        complaint = Complaint(path, 1, 1, f"cannot be read: {reason}", "check the path")
        raise _wrong([complaint]) from None
    return parse_service(raw, path)


def parse_service(raw: bytes, path: Path) -> Service:
    """The same from bytes; ``path`` is only named in complaints."""
    try:
        source = parse_source(raw, path, what="service")
    except StudyError as error:
        raise _wrong(error.complaints) from None
    complaints = Complaints(source)
    entry = _validated(source, complaints)
    if entry is not None:
        for mistake in mistakes(entry, catalogue.partners(entry)):
            _add(complaints, mistake)
    if entry is None or complaints:
        raise _wrong(complaints.ordered())
    return entry


def _validated(source: Source, complaints: Complaints) -> Service | None:
    if source.tree.get("shares"):
        hint = "write the settings out"
        message = "`shares` is for services of the catalogue"
        complaints.add(("shares",), message, hint, at_key=True)
    try:
        return Service.model_validate(source.tree)
    except ValidationError as error:
        add_validation(complaints, error, Service)
        return None


def _add(complaints: Complaints, mistake: Mistake) -> None:
    complaints.add(mistake.where, mistake.message, mistake.hint)


def _wrong(complaints: list[Complaint]) -> StudyError:
    return StudyError(complaints, slug="service-file-is-wrong")


@cache
def _parsed(text: str) -> Service:
    return parse_service(text.encode(), Path("service.yaml"))


def known_service(spec: ServiceSpec) -> Service | None:
    """As :func:`service_of`; ``None`` when the study names a service that is not there."""
    known = spec.text is not None or spec.use in catalogue.names("services")
    return service_of(spec) if known else None


def service_of(spec: ServiceSpec) -> Service:
    """What a service declares: its user's own file, or that of the catalogue."""
    return catalogue.service(spec.use) if spec.text is None else _parsed(spec.text)


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
    return {f"{FOLDER}/{_kept_name(s.use)}": s.text for s in specs if s.text is not None}


def _is_path(name: str) -> bool:
    return "/" in name or name.endswith((".yaml", ".yml"))


def _kept_name(name: str) -> str:
    return Path(name).name if _is_path(name) else f"{name}.yaml"
