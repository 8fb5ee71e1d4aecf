"""What a study asks for that this version cannot run yet, each with its place."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from steelyard.study import catalogue
from steelyard.study.catalogue import Platform, Shelf
from steelyard.study.declared.setting import Setting
from steelyard.study.declared.value import default_of
from steelyard.study.file.complaints import Complaints, dotted
from steelyard.study.file.source import Where
from steelyard.study.lookup import platform_of, responses_in, service_of, workload_of
from steelyard.study.model import SCENARIO, WORKLOAD, ScenarioSpec, Study, SystemSpec
from steelyard.study.scenarios import applies
from steelyard.study.service.entry import Service
from steelyard.study.timing import compares
from steelyard.study.workload.entry import Workload

_LATER = "not in this version"
_REMOVED: dict[Where, str] = {
    ("judge", "engine"): "every study is judged by the re-randomisation and the Welch test",
    ("trials", "order"): "two systems are assigned at random by visit, more in random blocks",
}
"""Keys that are read in the studies of earlier runs alone, and what holds without them."""


def missing_parts(study: Study, complaints: Complaints) -> None:
    """Adds one complaint for each thing that cannot be run."""
    for where, instead in _REMOVED.items():
        if where in complaints.source.keys:
            message = f"`{dotted(where)}` was removed"
            complaints.add(where, message, f"take it out: {instead}", at_key=True)
    _searches(study, complaints)
    _questions(study, complaints)
    _services(study, complaints)
    _systems(study, complaints)
    _workloads(study, complaints)
    _responses(study, complaints)


def _searches(study: Study, complaints: Complaints) -> None:
    several = any(system.instances > 1 for system in study.systems.values())
    if study.find and (several or "system.instances" in study.factors):
        hint = f"{_LATER}; search in a study of one instance"
        message = "a search over several instances cannot be run yet"
        complaints.add(("find",), message, hint, at_key=True)


_SCREENS = "write a variant that leaves one workload, or `ask: influence` in a comparison"


def _questions(study: Study, complaints: Complaints) -> None:
    """What is asked of workloads and has no clear answer, or none yet."""
    screens = study.screen is not None or (study.ask is not None and not compares(study))
    if screens and WORKLOAD in study.factors:
        key = "screen" if study.screen is not None else "ask"
        message = "factors are screened for one response, and each workload has its own"
        complaints.add((key,), message, f"{_LATER}; {_SCREENS}", at_key=True)
    elif study.ask is not None and _has_holes(study):
        message = "influence needs every cell, and some scenarios have no place on some systems"
        hint = "leave these scenarios out in a variant, or give all systems the instances"
        complaints.add(("ask",), message, hint, at_key=True)
    if study.find and study.scenarios:
        message = "a search drives one instance alone, and scenarios say otherwise"
        hint = "ask for it in a variant without `scenarios`"
        complaints.add(("find",), message, hint, at_key=True)
    if study.compare == WORKLOAD or (study.compare == SCENARIO and WORKLOAD in study.factors):
        hint = "compare systems or a setting; each workload is judged by itself"
        message = f"`{study.compare}` cannot be compared: workloads have units of their own"
        complaints.add(("compare",), message, hint)


def _services(study: Study, complaints: Complaints) -> None:
    for scenario in study.scenarios.values():
        if _two_services(study, scenario):
            hint = f"{_LATER}; place the two on different instances"
            message = "two services on one instance are not supported yet"
            complaints.add(("scenarios", scenario.name), message, hint, at_key=True)


def _has_holes(study: Study) -> bool:
    """Whether a system has too few instances for a scenario."""
    return any(
        not applies(study, system, {SCENARIO: name})
        for system in study.systems.values()
        for name in study.scenarios
    )


def _two_services(study: Study, scenario: ScenarioSpec) -> bool:
    """Whether an instance would have to start two servers."""
    for instance in scenario.instances.values():
        named = [study.workloads[p.workload] for p in instance if p.workload in study.workloads]
        used = [w.service for w in named if w.service is not None]
        speaks = [w for w in named if w.service is None and workload_of(w).speaks]
        if len({service.model_dump_json() for service in used}) + bool(speaks) > 1:
            return True
    return False


def _runnable(shelf: Shelf) -> str:
    entries: dict[Shelf, Callable[[str], Platform | Service | Workload]] = {
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
    if reset == "none":
        return  # any platform can stay as it is
    at: Where = ("trials", "reset") if system.reset is None else (*where, "reset")
    if reset not in platform.resets:
        can = ", ".join(platform.resets)
        hint = f"it can reset: {can}; say which with `reset` of system `{system.name}`"
        message = f"platform `{system.platform}` has no reset `{reset}`"
        complaints.add(at, message, hint)
    elif reset == "boot" and system.platform == "ssh" and not system.settings.get("may_reboot"):
        message = f"`boot` restarts the machine of `{system.name}`, which does not allow it"
        complaints.add(at, message, "write `may_reboot: true` there, or take another reset")


def _settings(
    values: Mapping[str, object],
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
        entry = workload_of(workload)
        if not entry.runs:
            _refuse(complaints, (*where, "use"), "workloads", workload.use)
        _settings(workload.settings, entry.settings, where, complaints)
        if workload.service is not None:
            service = service_of(workload.service)
            if not service.runs:
                _refuse(complaints, (*where, "service", "use"), "services", workload.service.use)
            _settings(workload.service.settings, service.settings, where, complaints)


def _responses(study: Study, complaints: Complaints) -> None:
    measured = study.measured.values()
    written = [("responses", name) for each in measured for name in each.responses]
    written += [("gates", name) for each in measured for name in each.gates]
    for shelf, name in written:
        if not responses_in(study)[name].runs:
            message = f"`{name}` cannot be measured yet"
            complaints.add((shelf, name), message, f"{_LATER}; take it out", at_key=True)
