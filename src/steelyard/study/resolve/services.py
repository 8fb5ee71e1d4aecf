"""The server under test of a system: its file found, its settings read, contradictions named."""

from __future__ import annotations

from collections.abc import Mapping

from steelyard.errors import StudyError
from steelyard.study import catalogue
from steelyard.study.declared.setting import Settings
from steelyard.study.file.complaints import Complaints, choice_hint
from steelyard.study.file.grammar import ServicePart
from steelyard.study.file.source import Where
from steelyard.study.lookup import SERVICE_FILES, known_service
from steelyard.study.model import ServiceSpec, SystemSpec, TrialsSpec
from steelyard.study.resolve.settings import read_settings
from steelyard.study.service.entry import Service, SharedSettings


def resolve_service(part: ServicePart, where: Where, complaints: Complaints) -> ServiceSpec:
    """One service with every setting of its file."""
    try:
        named = SERVICE_FILES.named(part.use, complaints.source.path)
    except StudyError as error:
        complaints.found |= set(error.complaints)
        return ServiceSpec(use=part.use)
    if named is None:
        hint = choice_hint(part.use, catalogue.names("services"), "services")
        hint += "; to use a file of your own, give its path: `./mine.yaml`"
        complaints.add((*where, "use"), f"there is no service `{part.use}`", hint)
        return ServiceSpec(use=part.use)
    entry, text = named
    values, levels = read_settings(
        part.further(), entry.settings, where, complaints, noun=f"settings of {part.use}"
    )
    for key in levels:
        hint = "write a second system with the other value"
        complaints.add((*where, key), f"`{key}` of a service cannot be a list", hint)
    _check_values(values, entry, part.further(), where, complaints)
    if part.ready_timeout is not None and not entry.started:
        message = f"`{part.use}` runs already: nothing waits for it to be ready"
        complaints.add((*where, "ready_timeout"), message, "take it out", at_key=True)
    return ServiceSpec(use=part.use, settings=values, text=text, ready_timeout_s=part.ready_timeout)


def _check_values(
    values: Settings,
    entry: Service,
    written: Mapping[str, object],
    where: Where,
    complaints: Complaints,
) -> None:
    own = SharedSettings.of(values)
    if own.store == "none" and own.sync not in (None, "none"):
        hint = "add `store: maildir`, or take `sync` out"
        complaints.add((*where, "sync"), "`sync` needs a `store`", hint)
    for key, setting in entry.settings.items():
        if setting.required and not written.get(key):
            hint = f"add `{key}: ...`: {setting.meaning}"
            complaints.add(where, f"`{where[-1]}` needs `{key}`", hint)


def check_resets(
    systems: Mapping[str, SystemSpec], trials: TrialsSpec, complaints: Complaints
) -> None:
    """What is left alone cannot be reset; a study that asks for more than ``service`` is wrong."""
    for name, system in systems.items():
        entry = None if system.service is None else known_service(system.service)
        if entry is not None and not entry.started and trials.reset != "service":
            message = f"`{name}` cannot be reset: its service is never started, stopped or changed"
            hint = "write `reset: service`; every record then says that nothing was reset"
            complaints.add(("trials", "reset"), message, hint)
