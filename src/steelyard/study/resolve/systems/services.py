"""The server under test of a system: its file found, its settings read, contradictions named."""

from __future__ import annotations

from collections.abc import Mapping

from steelyard.study.file.complaints import Complaints
from steelyard.study.file.grammar import ServicePart
from steelyard.study.file.source import Where
from steelyard.study.lookup import SERVICE_FILES, known_service
from steelyard.study.model import ServiceSpec, SystemSpec, TrialsSpec
from steelyard.study.resolve.entries import named_entry
from steelyard.study.resolve.settings import single_settings
from steelyard.study.service.entry import SharedSettings


def resolve_service(part: ServicePart, where: Where, complaints: Complaints) -> ServiceSpec:
    """One service with every setting of its file."""
    named = named_entry(SERVICE_FILES, part.use, (*where, "use"), complaints)
    if named is None:
        return ServiceSpec(use=part.use)
    entry, text = named
    values = single_settings(
        part.further(),
        entry.settings,
        where,
        complaints,
        of=("service", part.use),
        instead="write a second system with the other value",
    )
    own = SharedSettings.of(values)
    if own.store == "none" and own.sync not in (None, "none"):
        hint = "add `store: maildir`, or take `sync` out"
        complaints.add((*where, "sync"), "`sync` needs a `store`", hint)
    if part.ready_timeout is not None and not entry.started:
        message = f"`{part.use}` runs already: nothing waits for it to be ready"
        complaints.add((*where, "ready_timeout"), message, "take it out", at_key=True)
    return ServiceSpec(use=part.use, settings=values, text=text, ready_timeout_s=part.ready_timeout)


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
