"""From the file as written to the study: every part resolved, contradictions named."""

from __future__ import annotations

from collections.abc import Mapping

from steelyard.study import catalogue
from steelyard.study.catalogue import names
from steelyard.study.file.complaints import Complaints, choice_hint, nearest
from steelyard.study.file.grammar import StudyFile
from steelyard.study.model import Level, Study, SystemSpec, WorkloadSpec
from steelyard.study.resolve.claims import ClaimReader
from steelyard.study.resolve.driving import (
    resolve_beside,
    resolve_factors,
    resolve_load,
    resolve_probe,
    resolve_workloads,
)
from steelyard.study.resolve.judging import (
    resolve_find,
    resolve_gates,
    resolve_responses,
)
from steelyard.study.resolve.placing import (
    resolve_caches,
    resolve_generator,
    resolve_judge,
    resolve_report,
    resolve_sample,
    resolve_scenarios,
    resolve_screen,
    resolve_trials,
)
from steelyard.study.resolve.profiles import resolve_profiles
from steelyard.study.resolve.services import check_resets
from steelyard.study.resolve.settings import Factors
from steelyard.study.resolve.systems import check_apart, resolve_systems
from steelyard.study.service.own import known_service, own_texts, spoken


def resolve(file: StudyFile, complaints: Complaints) -> Study | None:
    """The study, with every mistake added to ``complaints``; ``None`` without a workload."""
    variant = complaints.source.variant
    systems = resolve_systems(file, complaints)
    workloads, listed = resolve_workloads(file, complaints)
    load, loaded = resolve_load(file, workloads, complaints)
    written = resolve_factors(file, systems, complaints)
    _check_twice(written, listed | loaded, complaints)
    factors = listed | loaded | written
    check_apart(systems, factors, complaints)
    compared, baseline = _comparison(file, systems, factors, complaints)
    if workloads:
        _check_services(systems, workloads, complaints)
        responses = resolve_responses(file, workloads, complaints)
    gates = resolve_gates(file.gates or {}, ("gates",), file, complaints)
    trials = resolve_trials(file.trials, complaints)
    check_resets(systems, trials, complaints)
    forgiving = variant is not None
    measured = responses if workloads else {}
    claims = ClaimReader(file, compared, factors, measured, complaints, forgiving=forgiving).read()
    screen = resolve_screen(file, systems, complaints)
    profiles = resolve_profiles(file, systems, factors, screen, complaints)
    systems = {n: s.model_copy(update={"profiles": profiles}) for n, s in systems.items()}
    parts = {
        "find": resolve_find(file, complaints),
        "probe": resolve_probe(file, complaints),
        "sample": resolve_sample(file, trials, complaints),
        "scenarios": resolve_scenarios(file, complaints),
        "screen": screen,
        "caches": resolve_caches(file, complaints),
        "report": resolve_report(file, factors, complaints),
    }
    if not workloads:
        return None
    compare = file.compare or "system"
    if compare != "system" and len(systems) > 1:
        factors = {"system": tuple(systems), **factors}
    systems, compared, dummy = _with_dummy(file, systems, compared, baseline, complaints)
    trials = trials.model_copy(update={"dummy": dummy})
    return Study.model_validate(
        {
            "name": file.study,
            "question": file.question.strip(),
            "variant": variant,
            "sha256": complaints.source.sha256((*_own_files(systems), *profiles.values())),
            "systems": systems,
            "compare": compare,
            "compared": compared,
            "baseline": baseline,
            "factors": {name: levels for name, levels in factors.items() if name != compare},
            "workloads": workloads,
            "beside": resolve_beside(file, systems, factors, complaints),
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


def _own_files(systems: Mapping[str, SystemSpec]) -> tuple[str, ...]:
    """Texts of platforms and services that are not of the catalogue: they are of the study, too."""
    own = {s.platform: s.platform_text for s in systems.values() if s.platform_text is not None}
    services = own_texts(systems.values())
    return tuple(own[name] for name in sorted(own)) + tuple(services[n] for n in sorted(services))


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
    """One workload and its servers must speak one protocol; several bring their own."""
    workload = next(iter(workloads.values()))
    if len(workloads) > 1 or workload.use not in names("workloads"):
        return
    entry = catalogue.workload(workload.use)
    for name, system in systems.items() if entry.speaks else ():
        service = system.service
        if service is None:
            _complain_of_no_service(name, workload.use, complaints)
        elif known_service(service) is not None:
            says = spoken(service)
            where = ("systems", name, "service")
            if not entry.fits(says):
                message = (
                    f"`{service.use}` speaks {', '.join(says)}, "
                    f"the workload speaks {', '.join(entry.speaks)}"
                )
                hint = "choose a service and a workload of one protocol"
                complaints.add((*where, "use"), message, hint)
            elif not _tls_fits(workload.settings.get("tls"), service.settings.get("tls")):
                message = f"`tls` of the workload is {workload.settings['tls']}, of the service not"
                hint = "say `tls` of the service and of the workload alike"
                complaints.add(where, message, hint)


def _tls_fits(spoken: object, offered: object) -> bool:
    """Whether a service with its ``tls`` can be spoken to like this; unknown ones can."""
    if spoken is None or offered is None:
        return True
    return spoken == offered or (spoken == "none" and offered == "starttls")


def _complain_of_no_service(name: str, use: str, complaints: Complaints) -> None:
    if _misspelt("service", complaints.source.tree["systems"].get(name)):
        return
    entry = catalogue.workload(use)
    fitting = [n for n in names("services") if entry.fits(catalogue.service(n).speaks)]
    fitting = [n for n in fitting if catalogue.service(n).runs] or fitting
    hint = f"add `service: {{use: NAME}}`; services that speak it: {', '.join(fitting)}"
    message = f"system `{name}` has no service to answer the workload `{use}`"
    complaints.add(("systems", name), message, hint, at_key=True)


def _misspelt(key: str, written: object) -> bool:
    """Whether a mapping holds something that was probably meant to be this key."""
    return isinstance(written, dict) and any(nearest(name, [key]) for name in written)
