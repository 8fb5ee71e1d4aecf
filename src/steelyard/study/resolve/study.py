"""From the file as written to the study: every part resolved, contradictions named."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from steelyard.study import catalogue
from steelyard.study.catalogue import names
from steelyard.study.file.complaints import Complaints, choice_hint, nearest
from steelyard.study.file.grammar import StudyFile
from steelyard.study.file.source import Where
from steelyard.study.model import (
    SCENARIO,
    Level,
    MeasuredSpec,
    ResponseSpec,
    ServiceSpec,
    Study,
    SystemSpec,
    WorkloadSpec,
)
from steelyard.study.resolve.claims import ClaimReader
from steelyard.study.resolve.driving import (
    clients_as_users,
    resolve_beside,
    resolve_factors,
    resolve_load,
    resolve_workloads,
)
from steelyard.study.resolve.judging import (
    resolve_find,
    resolve_gates,
    resolve_responses,
)
from steelyard.study.resolve.measured import resolve_measured
from steelyard.study.resolve.ordering import check_order
from steelyard.study.resolve.placing import (
    resolve_caches,
    resolve_generator,
    resolve_judge,
    resolve_report,
    resolve_sample,
    resolve_screen,
    resolve_trials,
)
from steelyard.study.resolve.probing import resolve_probe
from steelyard.study.resolve.profiles import resolve_profiles
from steelyard.study.resolve.scenarios import resolve_scenarios
from steelyard.study.resolve.services import check_resets
from steelyard.study.resolve.settings import Factors
from steelyard.study.resolve.systems import check_apart, resolve_systems
from steelyard.study.resolve.tools import check_durations
from steelyard.study.service.own import known_service, own_texts, spoken
from steelyard.study.workload.entry import Workload
from steelyard.study.workload.own import known_workload
from steelyard.study.workload.own import own_texts as own_workloads


def resolve(file: StudyFile, complaints: Complaints) -> Study | None:
    """The study, with every mistake added to ``complaints``; ``None`` without a workload."""
    variant = complaints.source.variant
    systems = resolve_systems(file, complaints)
    workloads, listed = resolve_workloads(file, complaints)
    load, loaded = resolve_load(file, workloads, complaints)
    listed, loaded = clients_as_users(file, workloads, listed, loaded, complaints)
    written = resolve_factors(file, systems, complaints)
    _check_twice(written, listed | loaded, complaints)
    factors = listed | loaded | written
    scenarios = resolve_scenarios(file, workloads, systems, factors, complaints)
    factors |= {SCENARIO: tuple(scenarios)} if scenarios else {}
    check_apart(systems, factors, complaints)
    compared, baseline = _comparison(file, systems, factors, complaints)
    if workloads:
        _check_services(systems, workloads, complaints)
    gates = resolve_gates(file.gates or {}, ("gates",), file, complaints)
    responses: dict[str, ResponseSpec] = {}
    measured: dict[str, MeasuredSpec] = {}
    if len(workloads) == 1:
        responses = resolve_responses(file, workloads, complaints)
    elif workloads:
        measured = resolve_measured(file, workloads, gates, complaints)
        gates = {}
    trials = resolve_trials(file.trials, complaints)
    check_resets(systems, trials, complaints)
    forgiving = variant is not None
    claimed = {name: each.responses for name, each in measured.items()} or {"": responses}
    claims = ClaimReader(file, compared, factors, claimed, complaints, forgiving=forgiving).read()
    screen = resolve_screen(file, systems, complaints)
    profiles = resolve_profiles(file, systems, factors, screen, complaints)
    systems = {n: s.model_copy(update={"profiles": profiles}) for n, s in systems.items()}
    parts = {
        "find": resolve_find(file, complaints),
        "probe": resolve_probe(file, systems, workloads, complaints),
        "sample": resolve_sample(file, trials, complaints),
        "scenarios": scenarios,
        "screen": screen,
        "caches": resolve_caches(file, complaints),
        "report": resolve_report(file, factors, complaints),
    }
    if not workloads:
        return None
    beside = resolve_beside(file, systems, factors, complaints)
    check_durations(workloads, trials, complaints)
    compare = file.compare or "system"
    if compare != "system" and len(systems) > 1:
        factors = {"system": tuple(systems), **factors}
    systems, compared, dummy = _with_dummy(file, systems, compared, baseline, complaints)
    check_order(file, len(compared), complaints)
    trials = trials.model_copy(update={"dummy": dummy})
    return Study.model_validate(
        {
            "name": file.study,
            "question": file.question.strip(),
            "variant": variant,
            "sha256": complaints.source.sha256(
                (*_own_files(systems, (*workloads.values(), *beside.values())), *profiles.values())
            ),
            "systems": systems,
            "compare": compare,
            "compared": compared,
            "baseline": baseline,
            "factors": {name: levels for name, levels in factors.items() if name != compare},
            "workloads": workloads,
            "measured": measured,
            "beside": beside,
            "load": load,
            "generator": resolve_generator(file, systems, factors, complaints),
            "responses": responses,
            "gates": gates,
            "trials": trials,
            "claims": claims,
            "variants": tuple(file.variants or {}),
            "judge": resolve_judge(file, responses, complaints),
            "ask": file.ask,
            "clock": file.clock or "controller",
            **parts,
        }
    )


def _own_files(
    systems: Mapping[str, SystemSpec], workloads: Iterable[WorkloadSpec]
) -> tuple[str, ...]:
    """Texts of files that are not of the catalogue: they are of the study, too."""
    own = {s.platform: s.platform_text for s in systems.values() if s.platform_text is not None}
    services = own_texts(systems.values())
    driven = own_workloads(workloads)
    texts = [shelf[name] for shelf in (own, services, driven) for name in sorted(shelf)]
    return tuple(texts)


def _check_twice(written: Factors, others: Factors, complaints: Complaints) -> None:
    if "load.rate" in written:
        where = ("factors", "load.rate")
        hint = "write `load: {rate: [...]}`, which says that the load is open"
        complaints.add(where, "a rate is given under `load`", hint, at_key=True)
    for name in written:
        if name in others and not (name == "load.users" and others[name] == (1,)):
            hint = "keep its levels in one place"
            message = f"`{name}` has levels here and at its own key"
            complaints.add(("factors", name), message, hint, at_key=True)


def _comparison(
    file: StudyFile, systems: Mapping[str, SystemSpec], factors: Factors, complaints: Complaints
) -> tuple[tuple[Level, ...], str]:
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
        return (), file.baseline or ""
    levels = [str(level) for level in compared]
    if len(levels) == 1 and file.screen is None and file.ask is None:
        hint = "add what it is compared with, or ask which factors matter: `ask: influence`"
        complaints.add(one, f"a comparison needs two {noun}, and there is one", hint, at_key=True)
    baseline = file.baseline or (levels[0] if levels else "")
    if levels and baseline not in levels:
        hint = choice_hint(baseline, levels, noun)
        what = "a system of this study" if compare == "system" else f"a level of `{compare}`"
        complaints.add(("baseline",), f"the baseline `{baseline}` is not {what}", hint)
    return compared, baseline


def _with_dummy(
    file: StudyFile,
    systems: dict[str, SystemSpec],
    compared: tuple[Level, ...],
    baseline: str,
    complaints: Complaints,
) -> tuple[dict[str, SystemSpec], tuple[Level, ...], str | None]:
    """The baseline once more under a name of its own, where the study asks for it."""
    if not file.trials.dummy or baseline not in systems:
        if file.trials.dummy and (file.compare or "system") != "system":
            hint = "take it out, or compare systems"
            message = "only a system can be measured again as a dummy"
            complaints.add(("trials", "dummy"), message, hint)
        return systems, compared, None
    name = f"{baseline}-again"
    if name in systems:
        hint = "call that system otherwise"
        complaints.add(("systems", name), f"`{name}` is the name of the dummy", hint, at_key=True)
    again = systems[baseline].model_copy(update={"name": name})
    return {**systems, name: again}, (*compared, name), name


def _check_services(
    systems: Mapping[str, SystemSpec], workloads: Mapping[str, WorkloadSpec], complaints: Complaints
) -> None:
    """Every workload and its server must speak one protocol."""
    for name, workload in workloads.items():
        entry = known_workload(workload)
        if entry is None or not entry.speaks:
            continue
        of_workload: Where = ("workload",) if len(workloads) == 1 else ("workloads", name)
        if workload.service is not None:
            place = (*of_workload, "service")
            _check_service(workload, entry, workload.service, place, complaints)
            continue
        for system_name, system in systems.items():
            where: Where = ("systems", system_name)
            if system.service is not None:
                _check_service(workload, entry, system.service, (*where, "service"), complaints)
            elif len(workloads) > 1:
                _complain_of_no_service(of_workload, workload.use, entry, complaints)
            elif not _misspelt("service", complaints.source.tree["systems"].get(system_name)):
                _complain_of_no_service(where, workload.use, entry, complaints)


def _check_service(
    workload: WorkloadSpec,
    entry: Workload,
    service: ServiceSpec,
    where: Where,
    complaints: Complaints,
) -> None:
    if known_service(service) is None:
        return
    says = spoken(service)
    if not entry.fits(says):
        message = (
            f"`{service.use}` speaks {', '.join(says)}, "
            f"the workload speaks {', '.join(entry.speaks)}"
        )
        hint = "choose a service and a workload of one protocol"
        complaints.add((*where, "use"), message, hint)
        return
    for expected in entry.expected_of(service.use, workload.settings):
        for name, value in expected.settings.items():
            if service.settings.get(name) != value:
                hint = f"write `service: {{use: {service.use}, {name}: {value}}}`"
                message = f"`{service.use}` cannot answer it as it is set: {expected.why}"
                complaints.add(where, message, hint)
    if not _tls_fits(workload.settings.get("tls"), service.settings.get("tls")):
        message = f"`tls` of the workload is {workload.settings['tls']}, of the service not"
        hint = "say `tls` of the service and of the workload alike"
        complaints.add(where, message, hint)


def _tls_fits(spoken: object, offered: object) -> bool:
    """Whether a service with its ``tls`` can be spoken to like this; unknown ones can."""
    if spoken is None or offered is None:
        return True
    return spoken == offered or (spoken == "none" and offered == "starttls")


def _complain_of_no_service(
    where: Where, use: str, entry: Workload, complaints: Complaints
) -> None:
    fitting = [n for n in names("services") if entry.fits(catalogue.service(n).speaks)]
    fitting = [n for n in fitting if catalogue.service(n).runs] or fitting
    hint = f"add `service: {{use: NAME}}`; services that speak it: {', '.join(fitting)}"
    message = f"system `{where[-1]}` has no service to answer the workload `{use}`"
    if where[0] == "workloads":
        message = f"workload `{where[-1]}` has no service to answer it"
    complaints.add(where, message, hint, at_key=True)


def _misspelt(key: str, written: object) -> bool:
    """Whether a mapping holds something that was probably meant to be this key."""
    return isinstance(written, dict) and any(nearest(name, [key]) for name in written)
