"""How hard a study drives its workloads, and every factor that it can vary."""

from __future__ import annotations

from collections.abc import Mapping

from steelyard.study import catalogue
from steelyard.study.declared.machine import declared_setting, names_to_write
from steelyard.study.declared.setting import Setting
from steelyard.study.file.complaints import Complaints, choice_hint
from steelyard.study.file.grammar import LoadPart, StudyFile
from steelyard.study.file.source import Where
from steelyard.study.lookup import (
    known_platform,
    known_service,
    known_workload,
    workload_of,
)
from steelyard.study.model import CLIENTS, LoadSpec, SystemSpec, WorkloadSpec
from steelyard.study.resolve.entries import entries_of, entry_of, parts_of
from steelyard.study.resolve.settings import (
    LISTS,
    Factors,
    read_levels,
)
from steelyard.study.workload.entry import Workload
from steelyard.study.workload.settings import SharedSettings

_USERS = Setting(kind="count", least=1, most=1_000_000, meaning="users at once")
_CONNECTIONS = Setting(kind="count", least=1, most=1_000_000, meaning="connections they share")
_PLACES = ("settings", "host_settings")
_RATE = Setting(kind="number", least=0.001, most=100_000_000, meaning="operations a second")
"""``most`` is the engine's own limit (``crates/load/src/plan``)."""


def resolve_load(
    file: StudyFile, workloads: Mapping[str, WorkloadSpec], complaints: Complaints
) -> tuple[LoadSpec | None, Factors]:
    """How operations start, and the levels of users or rate; one user when nothing is said."""
    driven = _driven(file, complaints)
    if file.load is None:
        return (LoadSpec(), {"load.users": (1,)}) if driven else (None, {})
    known = all(known_workload(workload) is not None for workload in workloads.values())
    if workloads and known and not driven:
        names = ", ".join(name for name, entry in _loads() if entry.load)
        hint = f"take it out; workloads that take a load: {names}"
        complaints.add(("load",), "this workload takes no load", hint, at_key=True)
    if file.load.rate is not None and known:
        _refuse_rate(workloads, complaints)
    return _load_part(file.load, complaints)


def clients_as_users(
    file: StudyFile,
    workloads: Mapping[str, WorkloadSpec],
    listed: Factors,
    loaded: Factors,
    complaints: Complaints,
) -> tuple[Factors, Factors]:
    """The factors with `clients` of a study's one workload as its users."""
    workload = next(iter(workloads.values()), None)
    clients = None if workload is None else SharedSettings.of(workload.settings).clients
    entry = None if workload is None else known_workload(workload)
    if clients is None or len(workloads) > 1 or entry is None or not entry.is_load:
        return listed, loaded
    if file.load is not None:
        hint = "keep one of them"
        message = "`clients` of the workload and `load` both say how many there are"
        complaints.add(("workload", CLIENTS), message, hint, at_key=True)
    levels = listed.get(f"workload.{CLIENTS}", (clients,))
    rest = {name: found for name, found in listed.items() if name != f"workload.{CLIENTS}"}
    return rest, {**loaded, "load.users": levels}


def _refuse_rate(workloads: Mapping[str, WorkloadSpec], complaints: Complaints) -> None:
    for workload in workloads.values():
        if not workload_of(workload).rate:
            hint = "write `users: [1, 4]`, its flows; `pace` of the workload holds each back"
            message = f"`{workload.use}` takes no rate"
            complaints.add(("load", "rate"), message, hint, at_key=True)


def _loads() -> list[tuple[str, Workload]]:
    return [(name, catalogue.workload(name)) for name in catalogue.names("workloads")]


def _load_part(part: LoadPart, complaints: Complaints) -> tuple[LoadSpec, Factors]:
    if part.users is not None and part.rate is not None:
        hint = "users wait for answers (closed), a rate does not (open): keep one of them"
        complaints.add(("load", "rate"), "`users` and `rate` are both given", hint, at_key=True)
    if part.rate is not None:
        _refuse(part, ("think",), "a rate", complaints)
        if part.connections is not None:
            read_levels(part.connections, _CONNECTIONS, ("load", "connections"), complaints)
        return _open(part), {
            "load.rate": read_levels(part.rate, _RATE, ("load", "rate"), complaints)
        }
    _refuse(part, ("arrival", "connections"), "users", complaints)
    users = [1] if part.users is None else part.users
    levels = read_levels(users, _USERS, ("load", "users"), complaints)
    return LoadSpec(think_time_s=part.think or 0.0), {"load.users": levels}


def _open(part: LoadPart) -> LoadSpec:
    written = {"arrival": part.arrival, "connections": part.connections}
    given = {key: value for key, value in written.items() if value is not None}
    return LoadSpec.model_validate({"mode": "open", **given})


def _refuse(part: LoadPart, keys: tuple[str, ...], of: str, complaints: Complaints) -> None:
    for key in keys:
        if getattr(part, key) is not None:
            message = f"`{key}` does not apply to a load given as {of}"
            complaints.add(("load", key), message, "take it out", at_key=True)


def resolve_factors(
    file: StudyFile, systems: Mapping[str, SystemSpec], complaints: Complaints
) -> Factors:
    """The levels of everything under ``factors``, each checked to bind to something."""
    factors: Factors = {}
    for name, written in (file.factors or {}).items():
        where: Where = ("factors", name)
        setting = bound_setting(name, file, systems, complaints)
        if setting is None:
            hint = choice_hint(name, bindable(file, systems, complaints), "factors of this study")
            complaints.add(
                where, f"factor `{name}` matches no setting of this study", hint, at_key=True
            )
            continue
        factors[name] = read_levels(written, setting, where, complaints)
    return factors


def _with_levels(declared: Mapping[str, Setting]) -> list[str]:
    return [name for name, setting in declared.items() if setting.kind not in LISTS]


def bindable(
    file: StudyFile, systems: Mapping[str, SystemSpec], complaints: Complaints
) -> list[str]:
    """Dotted names of everything that a factor of this study can vary."""
    known = ["load.users"] if _driven(file, complaints) else []
    for prefix, part in parts_of(file).items():
        entry = entry_of(part, complaints)
        known += [
            f"{prefix}.{key}" for key in _with_levels({} if entry is None else entry.settings)
        ]
    for system in systems.values():
        known += [
            f"disks.{disk}.{key}" for disk in system.disks for key in catalogue.disk_settings()
        ]
        platform = known_platform(system)
        own = {} if platform is None else platform.settings
        known += [f"system.{key}" for key in _with_levels(own)]
        known += [f"service.{key}" for key in _service_settings(system)]
    known += [f"{place}.{name}" for place in _PLACES for name in names_to_write()]
    return list(dict.fromkeys(known))


def _driven(file: StudyFile, complaints: Complaints) -> bool:
    """Whether any workload of the study takes a load."""
    return any(entry.load for entry in entries_of(file, complaints))


def bound_setting(
    name: str, file: StudyFile, systems: Mapping[str, SystemSpec], complaints: Complaints
) -> Setting | None:
    """What a dotted name varies; ``None`` when there is no such thing in this study."""
    stage, _, rest = name.partition(".")
    if stage == "load":
        return {"users": _USERS, "rate": _RATE}.get(rest)
    if stage in _PLACES:
        return declared_setting(rest)
    if stage == "disks":
        disk, _, key = rest.partition(".")
        attached = any(disk in system.disks for system in systems.values())
        return catalogue.disk_settings().get(key) if attached else None
    if stage == "system":
        return _platform_setting(rest, systems)
    if stage == "service":
        declared = (_service_settings(system) for system in systems.values())
        return next((found[rest] for found in declared if rest in found), None)
    return _workload_setting(name, file, complaints)


def _platform_setting(key: str, systems: Mapping[str, SystemSpec]) -> Setting | None:
    if key == "instances":
        return Setting(kind="count", least=1, meaning="how many of it run at once")
    for system in systems.values():
        platform = known_platform(system)
        if platform is not None and key in platform.settings:
            return platform.settings[key]
    return None


def _service_settings(system: SystemSpec) -> dict[str, Setting]:
    """Settings of its service that can be a factor; `tls` must fit the workload and cannot."""
    service = None if system.service is None else known_service(system.service)
    declared = {} if service is None else service.settings
    return {name: setting for name, setting in declared.items() if name != "tls"}


def _workload_setting(name: str, file: StudyFile, complaints: Complaints) -> Setting | None:
    prefix, _, key = name.rpartition(".")
    part = parts_of(file).get(prefix)
    entry = None if part is None else entry_of(part, complaints)
    return None if entry is None else entry.settings.get(key)
