"""What a study asks for that this version cannot run yet, each with its place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from steelyard.study import catalogue
from steelyard.study.catalogue import Platform, Shelf
from steelyard.study.file.complaints import Complaints
from steelyard.study.file.source import Where
from steelyard.study.model import Study, SystemSpec
from steelyard.study.platforms.own import platform_of
from steelyard.study.resolve.settings import default_of
from steelyard.study.service.own import service_of
from steelyard.study.setting import Setting

_LATER = "not in this version"
_PARTS: dict[str, str] = {
    "probe": "a probe",
    "scenarios": "scenarios",
}


def missing_parts(study: Study, complaints: Complaints) -> None:
    """Adds one complaint for each thing that cannot be run."""
    for key, words in _PARTS.items():
        if getattr(study, key):
            complaints.add(
                (key,), f"{words} cannot be run yet", f"{_LATER}; take it out", at_key=True
            )
    _searches(study, complaints)
    _systems(study, complaints)
    _workloads(study, complaints)
    _responses(study, complaints)
    _surroundings(study, complaints)


def _searches(study: Study, complaints: Complaints) -> None:
    several = any(system.instances > 1 for system in study.systems.values())
    if study.find and (several or "system.instances" in study.factors):
        hint = f"{_LATER}; search in a study of one instance"
        message = "a search over several instances cannot be run yet"
        complaints.add(("find",), message, hint, at_key=True)


def _runnable(shelf: Shelf) -> str:
    entries: dict[Shelf, Any] = {
        "workloads": catalogue.workload,
        "platforms": catalogue.platform,
        "services": catalogue.service,
    }
    return ", ".join(name for name in catalogue.names(shelf) if entries[shelf](name).runs)


def _refuse(complaints: Complaints, where: Where, shelf: Shelf, name: str) -> None:
    noun = shelf.removesuffix("s")
    hint = f"{_LATER}; {shelf} that run: {_runnable(shelf)}"
    complaints.add(where, f"{noun} `{name}` cannot be run yet", hint)


def _systems(study: Study, complaints: Complaints) -> None:
    for name, system in study.systems.items():
        where: Where = ("systems", name)
        platform = platform_of(system)
        if not platform.runs:
            _refuse(complaints, (*where, "platform"), "platforms", system.platform)
        else:
            _reset(study, system, platform, where, complaints)
        _settings(system.settings, platform.settings, where, complaints)
        if system.service is not None:
            service = service_of(system.service)
            inside = (*where, "service")
            if not service.runs:
                own = complaints.source.values.get(inside)
                place = inside if own else ("defaults", "service")
                _refuse(complaints, (*place, "use"), "services", system.service.use)
            _settings(system.service.settings, service.settings, inside, complaints)


def _reset(
    study: Study, system: SystemSpec, platform: Platform, where: Where, complaints: Complaints
) -> None:
    reset = system.reset or study.trials.reset
    if reset not in platform.resets:
        can = ", ".join(platform.resets)
        hint = f"it can reset: {can}; say which with `reset` of system `{system.name}`"
        message = f"platform `{system.platform}` has no reset `{reset}`"
        at: Where = ("trials", "reset") if system.reset is None else (*where, "reset")
        complaints.add(at, message, hint)


def _settings(
    values: Mapping[str, Any],
    declared: Mapping[str, Setting],
    where: Where,
    complaints: Complaints,
) -> None:
    for name, setting in declared.items():
        value = values.get(name)
        if not setting.runs and value is not None and value != default_of(setting):
            complaints.add((*where, name), f"`{name}` cannot be run yet", f"{_LATER}; take it out")


def _workloads(study: Study, complaints: Complaints) -> None:
    single = ("workload",) in complaints.source.keys
    for name, workload in study.workloads.items():
        where: Where = ("workload",) if single else ("workloads", name)
        entry = catalogue.workload(workload.use)
        if not entry.runs:
            _refuse(complaints, (*where, "use"), "workloads", workload.use)
        _settings(workload.settings, entry.settings, where, complaints)
    if len(study.workloads) > 1:
        message = "several workloads in one study cannot be run yet"
        complaints.add(("workloads",), message, "write one study for each", at_key=True)


def _responses(study: Study, complaints: Complaints) -> None:
    for shelf, chosen in (("responses", study.responses), ("gates", study.gates)):
        for name in chosen:
            if not catalogue.responses()[name].runs:
                message = f"`{name}` cannot be measured yet"
                complaints.add((shelf, name), message, f"{_LATER}; take it out", at_key=True)


def _surroundings(study: Study, complaints: Complaints) -> None:
    if study.clock != "controller":
        complaints.add(("clock",), "the clock of the system cannot be used yet", _LATER)
    if study.judge.engine != "exact":
        complaints.add(("judge", "engine"), "the normal engine cannot be run yet", _LATER)
