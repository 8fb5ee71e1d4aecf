"""From the file as written to the study: every part resolved, contradictions named."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from steelyard.study.file.complaints import Complaints, choice_hint
from steelyard.study.file.grammar import StudyFile
from steelyard.study.labels import level_names, name_of
from steelyard.study.lookup import own_texts
from steelyard.study.model import (
    SCENARIO,
    Level,
    LoadSpec,
    MeasuredSpec,
    ScenarioSpec,
    Study,
    SystemSpec,
    WorkloadSpec,
)
from steelyard.study.resolve.claims import ClaimReader
from steelyard.study.resolve.report import resolve_judge, resolve_report
from steelyard.study.resolve.screen import resolve_screen
from steelyard.study.resolve.settings import Factors
from steelyard.study.resolve.systems.disks import check_made_disks, check_network_disks
from steelyard.study.resolve.systems.external import check_external
from steelyard.study.resolve.systems.faults import check_faults
from steelyard.study.resolve.systems.machines import resolve_machines
from steelyard.study.resolve.systems.meters import check_meters
from steelyard.study.resolve.systems.processors import check_processors
from steelyard.study.resolve.systems.services import check_ports, check_resets
from steelyard.study.resolve.systems.systems import check_apart, check_lines, resolve_systems
from steelyard.study.resolve.systems.tuned_profiles import resolve_profiles
from steelyard.study.resolve.trials import (
    bound_programs,
    check_durations,
    resolve_caches,
    resolve_generator,
    resolve_sample,
    resolve_trials,
)
from steelyard.study.resolve.workloads.events import resolve_events
from steelyard.study.resolve.workloads.latency_probe import resolve_probe
from steelyard.study.resolve.workloads.load import clients_as_users, resolve_factors, resolve_load
from steelyard.study.resolve.workloads.protocols import check_services
from steelyard.study.resolve.workloads.responses import resolve_find, resolve_gates
from steelyard.study.resolve.workloads.scenarios import resolve_scenarios
from steelyard.study.resolve.workloads.workload_responses import resolve_alone, resolve_measured
from steelyard.study.resolve.workloads.workloads import resolve_background, resolve_workloads


def resolve_study(file: StudyFile, complaints: Complaints) -> Study | None:
    """The study, with every mistake added to ``complaints``; ``None`` without a workload."""
    systems = resolve_systems(file, complaints)
    workloads, listed = resolve_workloads(file, complaints)
    varied = _varied(file, systems, workloads, listed, complaints)
    factors = varied.factors
    compared = _compared(file, systems, factors, complaints)
    names = level_names(varied.compare, compared, systems, workloads)
    named = dict(zip(names, compared, strict=True))
    baseline = _baseline(file, named, complaints)
    measured = _measured(file, systems, workloads, complaints)
    trials = resolve_trials(file.trials, complaints)
    trials = bound_programs(trials, file.trials, workloads, complaints)
    check_resets(systems, trials, complaints)
    check_ports(systems, workloads, factors, trials, complaints)
    check_faults(systems, workloads, factors, complaints)
    check_external(file, systems, workloads, complaints)
    check_meters(file, systems, measured, complaints)
    forgiving = complaints.source.variant is not None
    claims = ClaimReader(file, named, factors, measured, complaints, forgiving=forgiving).read()
    screen = resolve_screen(file, systems, complaints)
    profiles = resolve_profiles(file, systems, factors, screen, complaints)
    systems = {n: s.model_copy(update={"profiles": profiles}) for n, s in systems.items()}
    parts = {
        "events": resolve_events(file, systems.values(), workloads.values(), trials, complaints),
        "find": resolve_find(file, complaints),
        "latency_probe": resolve_probe(file, systems, workloads, complaints),
        "sample": resolve_sample(file, trials, complaints),
        "screen": screen,
        "caches": resolve_caches(file, complaints),
        "report": resolve_report(file, factors, complaints),
    }
    if not workloads:
        return None
    background = resolve_background(file, systems, factors, complaints)
    check_durations(workloads, trials, complaints)
    if varied.compare != "system" and len(systems) > 1:
        factors = {"system": tuple(systems), **factors}
    systems, compared, control = _with_aa_control(file, systems, compared, baseline, complaints)
    driven = (*workloads.values(), *background.values())
    return Study.model_validate(
        {
            **_as_written(file, complaints),
            "sha256": complaints.source.sha256((*_own_files(systems, driven), *profiles.values())),
            "systems": systems,
            "machines": resolve_machines(file, complaints),
            "compare": varied.compare,
            "compared": compared,
            "names": () if varied.compare == "system" else names,
            "baseline": baseline,
            "factors": {n: levels for n, levels in factors.items() if n != varied.compare},
            "workloads": workloads,
            "measured": measured,
            "background": background,
            "load": varied.load,
            "scenarios": varied.scenarios,
            "generator": resolve_generator(file, systems, factors, complaints),
            "trials": trials.model_copy(update={"aa_control": control}),
            "claims": claims,
            "judge": resolve_judge(file),
            **parts,
        }
    )


def _as_written(file: StudyFile, complaints: Complaints) -> dict[str, object]:
    """What is of the study as it stands in the file."""
    return {
        "name": file.study,
        "question": file.question.strip(),
        "variant": complaints.source.variant,
        "accepted_differences": file.accepted_differences or {},
        "variants": tuple(file.variants or {}),
        "ask": file.ask,
        "clock": file.clock or "controller",
    }


@dataclass(frozen=True)
class _Varied:
    """What is varied, and what of it is compared."""

    compare: str
    load: LoadSpec | None
    factors: Factors
    scenarios: dict[str, ScenarioSpec]


def _varied(
    file: StudyFile,
    systems: Mapping[str, SystemSpec],
    workloads: dict[str, WorkloadSpec],
    listed: Factors,
    complaints: Complaints,
) -> _Varied:
    load, loaded = resolve_load(file, workloads, complaints)
    listed, loaded = clients_as_users(file, workloads, listed, loaded, complaints)
    written = resolve_factors(file, systems, complaints)
    _check_twice(written, listed | loaded, complaints)
    factors = listed | loaded | written
    scenarios = resolve_scenarios(file, workloads, systems, factors, complaints)
    factors |= {SCENARIO: tuple(scenarios)} if scenarios else {}
    check_apart(systems, factors, complaints)
    check_lines(systems, factors, complaints)
    check_processors(systems, factors, complaints)
    check_made_disks(systems, factors, complaints)
    check_network_disks(systems, factors, complaints)
    return _Varied(file.compare or "system", load, factors, scenarios)


def _measured(
    file: StudyFile,
    systems: Mapping[str, SystemSpec],
    workloads: dict[str, WorkloadSpec],
    complaints: Complaints,
) -> dict[str, MeasuredSpec]:
    """What is measured of each workload, and must hold."""
    check_services(systems, workloads, complaints)
    gates = resolve_gates(file.gates or {}, ("gates",), file, complaints)
    if len(workloads) > 1:
        return resolve_measured(file, workloads, gates, complaints)
    return {n: resolve_alone(file, each, gates, complaints) for n, each in workloads.items()}


def _own_files(
    systems: Mapping[str, SystemSpec], workloads: Iterable[WorkloadSpec]
) -> tuple[str, ...]:
    """Texts of files that are not of the catalogue: they are of the study, too."""
    own = own_texts(systems.values(), workloads)
    return tuple(own[path] for path in sorted(own))


def _check_twice(written: Factors, others: Factors, complaints: Complaints) -> None:
    if "load.rate" in written:
        where = ("factors", "load.rate")
        hint = "write `load: {rate: [...]}`, which says that the load is open"
        complaints.add(where, "`load.rate` cannot be given under `factors`", hint, at_key=True)
    for name in written:
        if name in others and not (name == "load.users" and others[name] == (1,)):
            hint = "keep its levels in one place"
            message = f"`{name}` has levels here and at its own key"
            complaints.add(("factors", name), message, hint, at_key=True)


def _compared(
    file: StudyFile, systems: Mapping[str, SystemSpec], factors: Factors, complaints: Complaints
) -> tuple[Level, ...]:
    compare = file.compare or "system"
    if compare == "system":
        compared: tuple[Level, ...] = tuple(systems)
        noun = "systems"
        one: tuple[str, ...] = ("systems",)
    elif compare in factors:
        compared, noun, one = factors[compare], f"levels of `{compare}`", ("factors", compare)
    else:
        hint = choice_hint(compare, ("system", *factors), "factors")
        complaints.add(("compare",), f"there is no factor `{compare}` to compare", hint)
        return ()
    wrong = compare == "system" and len(_written_systems(complaints)) > 1
    if len(compared) == 1 and not wrong and file.screen is None and file.ask is None:
        hint = "add what it is compared with, or ask which factors matter: `ask: influence`"
        complaints.add(one, f"a comparison needs two {noun}, and there is one", hint, at_key=True)
    return compared


def _baseline(file: StudyFile, named: Mapping[str, Level], complaints: Complaints) -> str:
    """The name of the baseline, which may be written as a bare number, too."""
    baseline = file.baseline or next(iter(named), "")
    found = name_of(baseline, named)
    if named and found is None:
        compare = file.compare or "system"
        noun = "systems" if compare == "system" else f"levels of `{compare}`"
        hint = choice_hint(baseline, list(named), noun)
        what = "a system of this study" if compare == "system" else f"a level of `{compare}`"
        complaints.add(("baseline",), f"the baseline `{baseline}` is not {what}", hint)
    return found or baseline


def _written_systems(complaints: Complaints) -> dict[object, object]:
    """Those of the file, with those that were complained of and taken out."""
    written = complaints.source.part("systems")
    return written if isinstance(written, dict) else {}


def _with_aa_control(
    file: StudyFile,
    systems: dict[str, SystemSpec],
    compared: tuple[Level, ...],
    baseline: str,
    complaints: Complaints,
) -> tuple[dict[str, SystemSpec], tuple[Level, ...], str | None]:
    """The baseline once more under a name of its own, where the study asks for it."""
    if not file.trials.aa_control or baseline not in systems:
        if file.trials.aa_control and (file.compare or "system") != "system":
            hint = "take it out, or compare systems"
            message = "only a system can be the A/A control"
            complaints.add(("trials", "aa_control"), message, hint)
        return systems, compared, None
    name = f"{baseline}-again"
    if name in systems:
        hint = "give that system another name"
        complaints.add(
            ("systems", name), f"`{name}` is the name of the A/A control", hint, at_key=True
        )
    again = systems[baseline].model_copy(update={"name": name})
    return {**systems, name: again}, (*compared, name), name
