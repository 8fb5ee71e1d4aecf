"""What a study drives: its workloads, their services, and what runs in the background."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from steelyard.study import catalogue
from steelyard.study.declared.value import defaults_of, read_value
from steelyard.study.file.complaints import Complaints
from steelyard.study.file.grammar import StudyFile, WorkloadPart
from steelyard.study.file.source import Where
from steelyard.study.lookup import (
    WORKLOAD_FILES,
    known_service,
    known_workload,
    spoken,
)
from steelyard.study.model import WORKLOAD, ServiceSpec, SystemSpec, WorkloadSpec
from steelyard.study.resolve.entries import named_entry, use_of
from steelyard.study.resolve.settings import Factors, Values, read_settings
from steelyard.study.resolve.systems.services import resolve_service
from steelyard.study.workload.entry import Workload


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
            complaints.add(
                place, "a single workload cannot have `responses` of its own", hint, at_key=True
            )
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
        hint = "name a workload; `background: {2: {use: idle}}` leaves an instance idle"
        complaints.add((*where, "use"), "`idle` cannot be measured", hint)


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
    settings = defaults_of(declared)
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


def resolve_background(
    file: StudyFile, systems: Mapping[str, SystemSpec], factors: Factors, complaints: Complaints
) -> dict[int, WorkloadSpec]:
    """What runs on instances of these numbers, while the rest run the workload."""
    found = {}
    for number, part in (file.background or {}).items():
        where: Where = ("background", number)
        if not number.isdecimal() or int(number) < 2:
            hint = "instance 1 runs the workload; write `2: {use: NAME}`"
            complaints.add(where, f"`{number}` is not an instance number of 2 or more", hint)
            continue
        found[int(number)], levels = _workload(part, where, complaints)
        for key in levels:
            hint = "background workloads are the same in every trial"
            complaints.add(
                (*where, key), f"`{key}` of a background workload cannot be a list", hint
            )
    for system in systems.values():
        if found and most_instances(system, factors) < max(found):
            hint = f"write `instances: {max(found)}`, or that many as a level of the factor"
            message = f"`background` needs {max(found)} instances of `{system.name}`"
            complaints.add(("systems", system.name), message, hint, at_key=True)
    return found


def _workload(
    part: WorkloadPart, where: Where, complaints: Complaints
) -> tuple[WorkloadSpec, Factors]:
    use = use_of(part)
    if use is None:
        hint = f"add `use: NAME`; workloads: {', '.join(catalogue.names('workloads'))}"
        complaints.add(where, f"`{where[-1]}` has no `use`", hint)
        return WorkloadSpec(use="?"), {}
    named = named_entry(WORKLOAD_FILES, use, (*where, "use"), complaints)
    if named is None:
        return WorkloadSpec(use=use), {}
    entry, text = named
    values, levels = read_settings(
        part.further(), entry.settings, where, complaints, noun=f"settings of {use}"
    )
    for name, setting in entry.settings.items():
        wrong = (*where, name) in complaints.source.keys  # complained of, and taken out
        if setting.required and values[name] is None and not wrong:
            hint = f"add `{name}: ...`: {setting.meaning}"
            complaints.add(where, f"`{use}` needs `{name}`", hint)
    _refuse_no_program(entry, values, where, complaints)
    prefix = ".".join(str(part) for part in where)
    factors = {f"{prefix}.{key}": found for key, found in levels.items()}
    place = (*where, "service")
    service = None if part.service is None else resolve_service(part.service, place, complaints)
    spec = WorkloadSpec(
        use=use, settings=values, operation=entry.operation, text=text, service=service
    )
    return spec, factors


def _refuse_no_program(
    entry: Workload, values: Values, where: Where, complaints: Complaints
) -> None:
    """Words of a command begin with a program; all others may be empty."""
    for name, setting in entry.settings.items():
        words = values[name]
        if setting.kind != "texts" or not setting.holds_placeholders or words is None:
            continue
        hint = "write its words, the program first: `[sync, --data, /srv]`"
        if words == () and setting.required:
            complaints.add((*where, name), f"`{name}` has no words", hint)
        elif isinstance(words, tuple) and words and not str(words[0]).strip():
            complaints.add((*where, name, 0), f"`{name}` names no program", hint)
