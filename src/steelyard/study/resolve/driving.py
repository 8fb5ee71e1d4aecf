"""The part of a study that says what is driven and how hard: workloads, load, factors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from steelyard.errors import StudyError
from steelyard.study import catalogue
from steelyard.study.file.complaints import Complaints, choice_hint
from steelyard.study.file.grammar import LoadPart, StudyFile, WorkloadPart
from steelyard.study.file.source import Where
from steelyard.study.machine import declared_setting, names_to_write
from steelyard.study.model import CLIENTS, WORKLOAD, LoadSpec, ServiceSpec, SystemSpec, WorkloadSpec
from steelyard.study.platforms.own import known_platform
from steelyard.study.resolve.services import resolve_service
from steelyard.study.resolve.settings import (
    Factors,
    default_of,
    read_levels,
    read_settings,
    read_value,
)
from steelyard.study.resolve.workloads import entries_of, entry_of, parts_of, use_of
from steelyard.study.service.own import known_service, spoken
from steelyard.study.setting import Setting
from steelyard.study.workload.entry import Workload
from steelyard.study.workload.own import known_workload, workload_named, workload_of

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
        where: Where = ("workload",)
        spec, factors = _workload(file.workload, where, complaints)
        _refuse_idle(spec, where, complaints)
        if file.workload.responses is not None:
            hint = "write them under `responses` of the study: it has one workload"
            place = (*where, "responses")
            complaints.add(place, "a single workload has no responses apart", hint, at_key=True)
        return {spec.use: spec}, factors
    return _several(file.workloads or {}, complaints)


def _several(
    parts: Mapping[str, WorkloadPart], complaints: Complaints
) -> tuple[dict[str, WorkloadSpec], Factors]:
    """Each under its name; which of them is measured is the first factor of all."""
    specs: dict[str, WorkloadSpec] = {}
    factors: Factors = {WORKLOAD: tuple(parts)} if len(parts) > 1 else {}
    for name, part in parts.items():
        where: Where = ("workloads", name)
        specs[name], more = _workload(part, where, complaints)
        _refuse_idle(specs[name], where, complaints)
        factors |= more
    if len(parts) > 1:
        specs = {name: _served(spec, specs.values()) for name, spec in specs.items()}
    return specs, factors


def _refuse_idle(spec: WorkloadSpec, where: Where, complaints: Complaints) -> None:
    if spec.use == "idle":
        hint = "name what is driven; `beside: {2: {use: idle}}` is for a neighbour"
        complaints.add((*where, "use"), "nothing would be measured", hint)


def _served(spec: WorkloadSpec, others: Iterable[WorkloadSpec]) -> WorkloadSpec:
    """With a service, where none was named: that of another workload of the same kind, or the one
    that can answer it where there is but one.
    """
    entry = known_workload(spec)
    if spec.service is not None or entry is None or not entry.speaks:
        return spec
    alike = (o.service for o in others if o.use == spec.use and o.service is not None)
    if (service := next((s for s in alike if _answers(s, entry, spec)), None)) is not None:
        return spec.model_copy(update={"service": service})
    fitting = [n for n in catalogue.names("services") if entry.fits(catalogue.service(n).speaks)]
    if len(fitting) != 1:
        return spec
    declared = catalogue.service(fitting[0]).settings
    settings = {name: default_of(setting) for name, setting in declared.items()}
    for expected in entry.expected_of(fitting[0], spec.settings):
        settings |= {n: read_value(v, declared[n]) for n, v in expected.settings.items()}
    return spec.model_copy(update={"service": ServiceSpec(use=fitting[0], settings=settings)})


def _answers(service: ServiceSpec, entry: Workload, spec: WorkloadSpec) -> bool:
    """Whether the service of another workload can answer this one, as it is set."""
    if known_service(service) is None:
        return True
    expected = entry.expected_of(service.use, spec.settings)
    as_set = all(
        service.settings.get(name) == value
        for one in expected
        for name, value in one.settings.items()
    )
    return as_set and entry.fits(spoken(service))


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
    use = use_of(part)
    if use is None:
        hint = f"add `use: NAME`; workloads: {', '.join(catalogue.names('workloads'))}"
        complaints.add(where, f"`{where[-1]}` does not say what to use", hint)
        return WorkloadSpec(use="?"), {}
    try:
        named = workload_named(use, complaints.source.path)
    except StudyError as error:
        complaints.found |= set(error.complaints)
        return WorkloadSpec(use=use), {}
    if named is None:
        hint = choice_hint(use, catalogue.names("workloads"), "workloads")
        hint += "; a file of your own is named by its path, as `./mine.yaml`"
        complaints.add((*where, "use"), f"there is no workload `{use}`", hint)
        return WorkloadSpec(use=use), {}
    entry, text = named
    values, levels = read_settings(
        part.further(), entry.settings, where, complaints, noun=f"settings of {use}"
    )
    for name, setting in entry.settings.items():
        if setting.required and values[name] is None:
            hint = f"add `{name}: ...`: {setting.meaning}"
            complaints.add(where, f"`{use}` needs `{name}`", hint)
    prefix = ".".join(str(part) for part in where)
    factors = {f"{prefix}.{key}": found for key, found in levels.items()}
    place = (*where, "service")
    service = None if part.service is None else resolve_service(part.service, place, complaints)
    spec = WorkloadSpec(
        use=use, settings=values, operation=entry.operation, text=text, service=service
    )
    return spec, factors


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
    clients = None if workload is None else workload.settings.get(CLIENTS)
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
            complaints.add(where, f"factor `{name}` binds to nothing", hint, at_key=True)
            continue
        factors[name] = read_levels(written, setting, where, complaints)
    return factors


def bindable(
    file: StudyFile, systems: Mapping[str, SystemSpec], complaints: Complaints
) -> list[str]:
    """Dotted names of everything that a factor of this study can vary."""
    known = ["load.users"] if _driven(file, complaints) else []
    for prefix, part in parts_of(file).items():
        entry = entry_of(part, complaints)
        known += [f"{prefix}.{key}" for key in ({} if entry is None else entry.settings)]
    for system in systems.values():
        known += [
            f"disks.{disk}.{key}" for disk in system.disks for key in catalogue.disk_settings()
        ]
        platform = known_platform(system)
        known += [f"system.{key}" for key in ({} if platform is None else platform.settings)]
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
