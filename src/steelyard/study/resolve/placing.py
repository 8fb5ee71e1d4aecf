"""The parts of a study around the measurement: sampling, trials, scenarios, screening, report."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from steelyard.study.file.complaints import Complaints, choice_hint
from steelyard.study.file.grammar import ReportPart, ScreenPart, StudyFile, TrialsPart
from steelyard.study.file.kinds import Part, shown
from steelyard.study.file.source import Where
from steelyard.study.fractions import MOST_FACTORS, MOST_FULL
from steelyard.study.model import (
    CachesSpec,
    GeneratorSpec,
    JudgeSpec,
    ReportSpec,
    ResponseSpec,
    SampleSpec,
    ScreenSpec,
    SystemSpec,
    TrialsSpec,
)
from steelyard.study.resolve.driving import bindable, bound_setting, fewest_instances
from steelyard.study.resolve.guards import resolve_guards
from steelyard.study.resolve.settings import Factors, read_levels

_PLACES = ("system", "host", "generator")
_GENERATOR = re.compile(r"local|ssh://[^\s/]+|instance ([2-9]|[1-9]\d+)")
_CACHES = re.compile(r"dropped before every window(?:,\s*in\s+(\S.*))?")
_MOST_HARD = 3
_LEAST_SAMPLE_S, _MOST_SAMPLE_S, _SAMPLES_OF_A_WINDOW = 0.1, 1.0, 8


def given(part: Part | None) -> dict[str, Any]:
    """The keys that were written, so that defaults stay where they are declared."""
    if part is None:
        return {}
    fields = {name: getattr(part, name) for name in type(part).model_fields}
    return {name: value for name, value in fields.items() if value is not None}


def resolve_trials(part: TrialsPart, complaints: Complaints) -> TrialsSpec:
    """How trials run; quantities checked for sense."""
    written = given(part)
    written.pop("dummy", None)  # a name, once the systems are known
    fields = {f"{key}_s": written.pop(key) for key in _DURATIONS if key in written}
    fields["margin_ratio"] = written.pop("margin")
    if "settle" in written:
        settle = written.pop("settle")
        fields |= {"settle_s": settle.duration_s, "settle_until_idle": settle.until_idle}
    budget = given(written.pop("budget", None))
    names = {"trials": "trials_per_cell", "time": "time_s"}
    fields["budget"] = {names[key]: value for key, value in budget.items()}
    _check_trials(part, complaints)
    return TrialsSpec.model_validate(fields | written)


_DURATIONS = ("window", "warmup", "drain", "timeout", "canary")


def _check_trials(part: TrialsPart, complaints: Complaints) -> None:
    if not 0 < part.margin < 1:
        hint = "write the smallest difference that matters, such as `2 %`"
        complaints.add(("trials", "margin"), "the margin must lie between 0 % and 100 %", hint)
    if part.alpha is not None and not 0 < part.alpha <= 0.5:
        hint = "5 % is usual"
        complaints.add(("trials", "alpha"), "alpha must lie between 0 % and 50 %", hint)
    if part.window is not None and part.window < _LEAST_SAMPLE_S:
        hint = "a window takes 100 ms or more; 2 s and more give steadier figures"
        complaints.add(("trials", "window"), "the window is too short to measure in", hint)
    if part.timeout is not None and part.timeout <= 0:
        hint = "10 s is the default"
        complaints.add(("trials", "timeout"), "the timeout must be above zero", hint)


def resolve_sample(file: StudyFile, trials: TrialsSpec, complaints: Complaints) -> SampleSpec:
    """How machines are sampled: each second, but at least eight times in a window."""
    share = trials.window_s / _SAMPLES_OF_A_WINDOW
    every_s = max(_LEAST_SAMPLE_S, min(_MOST_SAMPLE_S, share))
    part = file.sample
    if part is None:
        return SampleSpec(every_s=every_s)
    for i, place in enumerate(part.where or []):
        if place not in _PLACES:
            hint = choice_hint(place, _PLACES, "places")
            complaints.add(("sample", "where", i), f"nothing is sampled at `{place}`", hint)
    if part.every is not None and not _LEAST_SAMPLE_S <= part.every <= trials.window_s:
        hint = "write 100 ms or more, and not more than the window"
        complaints.add(("sample", "every"), "this pause between samples does not fit", hint)
    where = tuple(part.where) if part.where else SampleSpec().where
    return SampleSpec(every_s=part.every or every_s, where=where)


def resolve_generator(
    file: StudyFile, systems: Mapping[str, SystemSpec], factors: Factors, complaints: Complaints
) -> GeneratorSpec:
    """Where the load comes from."""
    host = "local" if file.generator is None else file.generator.host or "local"
    match = _GENERATOR.fullmatch(host)
    where: Where = ("generator", "host")
    if match is None:
        hint = "write `local`, an address such as `ssh://loader`, or `instance 2`"
        complaints.add(where, f"`{host}` is not a place that load comes from", hint)
        return GeneratorSpec()
    for system in systems.values():
        if match[1] and fewest_instances(system, factors) < int(match[1]):
            hint = f"write `instances: {match[1]}`, and no level of a factor below it"
            complaints.add(where, f"`{system.name}` has no instance {match[1]}", hint)
    return GeneratorSpec.model_validate(given(file.generator))


def resolve_screen(
    file: StudyFile, systems: Mapping[str, SystemSpec], complaints: Complaints
) -> ScreenSpec | None:
    """Two-level screening; every factor must bind and have two levels."""
    part = file.screen
    if part is None:
        return None
    if part.system not in systems:
        hint = choice_hint(part.system, systems, "systems")
        complaints.add(("screen", "system"), f"there is no system `{part.system}`", hint)
    factors = {}
    for name, written in part.factors.items():
        where: Where = ("screen", "factors", name)
        setting = bound_setting(name, file, systems, complaints)
        if setting is None:
            hint = choice_hint(name, bindable(file, systems, complaints), "factors of this study")
            complaints.add(where, f"factor `{name}` binds to nothing", hint, at_key=True)
            continue
        levels = read_levels(written, setting, where, complaints)
        if len(levels) != 2:
            complaints.add(where, "screening takes two levels of each factor", "name two")
        factors[name] = levels
    _check_screen(file, part, factors, complaints)
    hard = tuple(name for name in part.hard_to_change or () if name in factors)
    return ScreenSpec(system=part.system, factors=factors, hard_to_change=hard)


def _check_screen(
    file: StudyFile, part: ScreenPart, factors: Factors, complaints: Complaints
) -> None:
    if not 2 <= len(part.factors) <= MOST_FACTORS:
        hint = f"name two factors at least and {MOST_FACTORS} at most"
        message = f"{len(part.factors)} factors cannot be screened"
        complaints.add(("screen", "factors"), message, hint, at_key=True)
    hard = part.hard_to_change or []
    for i, name in enumerate(hard):
        if name not in part.factors:
            hint = choice_hint(name, part.factors, "factors of the screen")
            complaints.add(("screen", "hard_to_change", i), f"`{name}` is not screened", hint)
    other = "load.users" if file.load is not None and file.load.rate is not None else "load.rate"
    if other in factors:
        hint = "say under `load` whether users wait or operations start by the clock"
        message = f"the load of this study is not given as `{other}`"
        complaints.add(("screen", "factors", other), message, hint, at_key=True)
    if factors and set(factors) <= set(hard):
        hint = "leave one out: something must be varied while they keep their levels"
        message = "every factor is hard to change"
        complaints.add(("screen", "hard_to_change"), message, hint, at_key=True)
    if len(factors) > MOST_FULL and len(hard) > _MOST_HARD:
        hint = f"with more than {MOST_FULL} factors at most {_MOST_HARD} can be"
        message = "too many factors are hard to change"
        complaints.add(("screen", "hard_to_change"), message, hint, at_key=True)


def resolve_caches(file: StudyFile, complaints: Complaints) -> CachesSpec:
    """Whether caches are dropped, and where."""
    if file.caches is None or file.caches == "kept":
        return CachesSpec()
    match = _CACHES.fullmatch(file.caches.strip())
    if match is None:
        hint = "write `kept`, or `dropped before every window, in guest and host`"
        complaints.add(("caches",), f"{shown(file.caches)} does not say what to do", hint)
        return CachesSpec()
    where = tuple(re.split(r",\s*|\s+and\s+", match[1])) if match[1] else ("system",)
    return CachesSpec(dropped=True, where=where)


def resolve_judge(
    file: StudyFile, responses: Mapping[str, ResponseSpec], complaints: Complaints
) -> JudgeSpec:
    """How records become verdicts; ``responses`` are empty where each workload has its own."""
    guards = resolve_guards(file, responses, complaints) if responses else {}
    return JudgeSpec.model_validate(given(file.judge) | {"guards": guards})


def resolve_report(
    file: StudyFile, factors: Mapping[str, object], complaints: Complaints
) -> ReportSpec:
    """How the report is cut; by factors that the study has."""
    part, compare = file.report or ReportPart(), file.compare or "system"
    conditions = {*factors, *({"system"} if len(file.systems) > 1 else ())} - {compare}
    _check_cut("sections_by", part.sections_by, {*conditions, compare}, complaints)
    if part.means_by is not None and part.means_by in {compare, part.sections_by}:
        message = f"`{part.means_by}` has no mean of its own: it is compared, or cuts the report"
        hint = choice_hint("", sorted(conditions - {part.sections_by}), "conditions")
        complaints.add(("report", "means_by"), message, hint)
    else:
        _check_cut("means_by", part.means_by, conditions, complaints)
    if part.notes is not None and part.sections_by is None:
        hint = "say `sections_by`: a note belongs to a section"
        complaints.add(("report", "notes"), "there are no sections to put notes in", hint)
    return ReportSpec.model_validate(given(part))


def _check_cut(key: str, name: str | None, known: set[str], complaints: Complaints) -> None:
    if name is not None and name not in known:
        hint = choice_hint(name, sorted(known), "factors")
        complaints.add(("report", key), f"there is no factor `{name}`", hint)
