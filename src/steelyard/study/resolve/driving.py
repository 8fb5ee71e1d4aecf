"""The part of a study that says what is driven and how hard: workloads, load, factors."""

from __future__ import annotations

from collections.abc import Mapping

from steelyard.study import catalogue
from steelyard.study.file.complaints import Complaints, choice_hint
from steelyard.study.file.grammar import LoadPart, StudyFile, WorkloadPart
from steelyard.study.file.source import Where
from steelyard.study.machine import declared_setting, names_to_write
from steelyard.study.model import LoadSpec, ProbeSpec, SystemSpec, WorkloadSpec
from steelyard.study.platforms.own import known_platform
from steelyard.study.resolve.settings import Factors, read_levels, read_settings
from steelyard.study.service.own import known_service
from steelyard.study.setting import Setting

_USERS = Setting(kind="count", least=1, most=1_000_000, meaning="users at once")
_PLACES = ("settings", "host_settings")
_RATE = Setting(kind="number", least=0.001, meaning="operations a second")


def resolve_workloads(
    file: StudyFile, complaints: Complaints
) -> tuple[dict[str, WorkloadSpec], Factors]:
    """All workloads by name, and the factors that their lists of settings make.

    A single ``workload`` is named after what it uses; its factors are ``workload.SETTING``.
    """
    if file.workload is not None and file.workloads is not None:
        hint = "keep one of them; several workloads go under `workloads`"
        complaints.add(
            ("workload",), "`workload` and `workloads` are both given", hint, at_key=True
        )
    if file.workload is None and not file.workloads:
        written = complaints.source.tree
        if written.get("workload") is not None or written.get("workloads"):
            return {}, {}  # there is one, and it has been complained about
        complaints.add((), "`workload` is missing", "add `workload: {use: NAME}`: what is driven")
        return {}, {}
    if file.workload is not None:
        spec, factors = _workload(file.workload, ("workload",), complaints)
        if spec.use == "idle":
            hint = "name what is driven; `beside: {2: {use: idle}}` is for a neighbour"
            complaints.add(("workload", "use"), "nothing would be measured", hint)
        return {spec.use: spec}, factors
    specs: dict[str, WorkloadSpec] = {}
    factors = {}
    for name, part in (file.workloads or {}).items():
        specs[name], more = _workload(part, ("workloads", name), complaints)
        factors |= more
    return specs, factors


def fewest_instances(system: SystemSpec, factors: Factors) -> int:
    """How many of a system run at once at least, at any level of ``system.instances``."""
    return min(
        (int(level) for level in factors.get("system.instances", ())), default=system.instances
    )


def most_instances(system: SystemSpec, factors: Factors) -> int:
    """How many of a system run at once at most, at any level of ``system.instances``."""
    return max(
        (int(level) for level in factors.get("system.instances", ())), default=system.instances
    )


def resolve_beside(
    file: StudyFile, systems: Mapping[str, SystemSpec], factors: Factors, complaints: Complaints
) -> dict[int, WorkloadSpec]:
    """What runs on instances of these numbers, while the rest run the workload."""
    found = {}
    for number, part in (file.beside or {}).items():
        where: Where = ("beside", number)
        if not number.isdecimal() or int(number) < 2:
            hint = "instance 1 runs the workload; write `2: {use: NAME}`"
            complaints.add(where, f"`{number}` is not the number of a further instance", hint)
            continue
        found[int(number)], levels = _workload(part, where, complaints)
        for key in levels:
            hint = "what runs beside is the same in every trial"
            complaints.add((*where, key), f"`{key}` beside cannot be a list", hint)
    for system in systems.values():
        if found and most_instances(system, factors) < max(found):
            hint = f"write `instances: {max(found)}`, or that many as a level of the factor"
            message = f"`beside` needs {max(found)} instances of `{system.name}`"
            complaints.add(("systems", system.name), message, hint, at_key=True)
    return found


def _workload(
    part: WorkloadPart, where: Where, complaints: Complaints
) -> tuple[WorkloadSpec, Factors]:
    use = part.use or ("command" if "command" in part.further() else None)
    if use is None:
        hint = f"add `use: NAME`; workloads: {', '.join(catalogue.names('workloads'))}"
        complaints.add(where, f"`{where[-1]}` does not say what to use", hint)
        return WorkloadSpec(use="?"), {}
    if use not in catalogue.names("workloads"):
        hint = choice_hint(use, catalogue.names("workloads"), "workloads")
        complaints.add((*where, "use"), f"there is no workload `{use}`", hint)
        return WorkloadSpec(use=use), {}
    entry = catalogue.workload(use)
    values, levels = read_settings(
        part.further(), entry.settings, where, complaints, noun=f"settings of {use}"
    )
    prefix = ".".join(str(part) for part in where)
    factors = {f"{prefix}.{key}": found for key, found in levels.items()}
    return WorkloadSpec(use=use, settings=values, operation=entry.operation), factors


def resolve_load(
    file: StudyFile, workloads: Mapping[str, WorkloadSpec], complaints: Complaints
) -> tuple[LoadSpec | None, Factors]:
    """How operations start, and the levels of users or rate; one user when nothing is said."""
    driven = _driven(file)
    if file.load is None:
        return (LoadSpec(), {"load.users": (1,)}) if driven else (None, {})
    known = all(workload.use in catalogue.names("workloads") for workload in workloads.values())
    if workloads and known and not driven:
        names = ", ".join(name for name, entry in _loads() if entry.load)
        hint = f"take it out; workloads that take a load: {names}"
        complaints.add(("load",), "this workload takes no load", hint, at_key=True)
    if file.load.rate is not None and known:
        _refuse_rate(workloads, complaints)
    return _load_part(file.load, complaints)


def _refuse_rate(workloads: Mapping[str, WorkloadSpec], complaints: Complaints) -> None:
    for workload in workloads.values():
        if not catalogue.workload(workload.use).rate:
            hint = "write `users: [1, 4]`, its flows; `pace` of the workload holds each back"
            message = f"`{workload.use}` takes no rate"
            complaints.add(("load", "rate"), message, hint, at_key=True)


def _loads() -> list[tuple[str, catalogue.Workload]]:
    return [(name, catalogue.workload(name)) for name in catalogue.names("workloads")]


def _load_part(part: LoadPart, complaints: Complaints) -> tuple[LoadSpec, Factors]:
    if part.users is not None and part.rate is not None:
        hint = "users wait for their answers, a rate does not: keep one of them"
        complaints.add(("load", "rate"), "`users` and `rate` are both given", hint, at_key=True)
    if part.rate is not None:
        _refuse(part, ("think",), "a rate", complaints)
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
            message = f"`{key}` means nothing for a load given as {of}"
            complaints.add(("load", key), message, "take it out", at_key=True)


def resolve_probe(file: StudyFile, complaints: Complaints) -> ProbeSpec | None:
    """The probe with every setting of what it uses."""
    part = file.probe
    if part is None:
        return None
    if part.use not in catalogue.names("workloads"):
        hint = choice_hint(part.use, catalogue.names("workloads"), "workloads")
        complaints.add(("probe", "use"), f"there is no workload `{part.use}`", hint)
        return ProbeSpec(use=part.use, every_s=part.every)
    declared = catalogue.workload(part.use).settings
    values, _ = read_settings(
        part.further(), declared, ("probe",), complaints, noun=f"settings of {part.use}"
    )
    return ProbeSpec(use=part.use, every_s=part.every, settings=values)


def resolve_factors(
    file: StudyFile, systems: Mapping[str, SystemSpec], complaints: Complaints
) -> Factors:
    """The levels of everything under ``factors``, each checked to bind to something."""
    factors: Factors = {}
    for name, written in (file.factors or {}).items():
        where: Where = ("factors", name)
        setting = bound_setting(name, file, systems)
        if setting is None:
            hint = choice_hint(name, bindable(file, systems), "factors of this study")
            complaints.add(where, f"factor `{name}` binds to nothing", hint, at_key=True)
            continue
        factors[name] = read_levels(written, setting, where, complaints)
    return factors


def bindable(file: StudyFile, systems: Mapping[str, SystemSpec]) -> list[str]:
    """Dotted names of everything that a factor of this study can vary."""
    loaded = _driven(file)
    parts = {"workload": file.workload} if file.workload else {}
    parts |= {f"workloads.{name}": part for name, part in (file.workloads or {}).items()}
    known = ["load.users"] if loaded else []
    for prefix, part in parts.items():
        if part.use in catalogue.names("workloads"):
            known += [f"{prefix}.{key}" for key in catalogue.workload(part.use).settings]
    for system in systems.values():
        known += [
            f"disks.{disk}.{key}" for disk in system.disks for key in catalogue.disk_settings()
        ]
        platform = known_platform(system)
        known += [f"system.{key}" for key in ({} if platform is None else platform.settings)]
        known += [f"service.{key}" for key in _service_settings(system)]
    known += [f"{place}.{name}" for place in _PLACES for name in names_to_write()]
    return list(dict.fromkeys(known))


def _driven(file: StudyFile) -> bool:
    """Whether any workload of the study takes a load."""
    parts = [file.workload] if file.workload else list((file.workloads or {}).values())
    known = [part.use for part in parts if part.use in catalogue.names("workloads")]
    return any(use is not None and catalogue.workload(use).load for use in known)


def bound_setting(name: str, file: StudyFile, systems: Mapping[str, SystemSpec]) -> Setting | None:
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
    return _workload_setting(name, file)


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


def _workload_setting(name: str, file: StudyFile) -> Setting | None:
    parts = name.split(".")
    part = None
    if parts[0] == "workload" and len(parts) == 2:
        part = file.workload
    elif parts[0] == "workloads" and len(parts) == 3:
        part = (file.workloads or {}).get(parts[1])
    use = None if part is None else part.use
    if use is None or use not in catalogue.names("workloads"):
        return None
    return catalogue.workload(use).settings.get(parts[-1])
