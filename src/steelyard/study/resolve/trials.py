"""How a study runs its trials: durations, sampling, generator, caches, order."""

from __future__ import annotations

import re
from collections.abc import Mapping

from steelyard.study.declared.placeholders import Placeholder, TemplateError, in_unit, placeholders
from steelyard.study.file.complaints import Complaints, choice_hint
from steelyard.study.file.grammar import StudyFile, TrialsPart
from steelyard.study.file.kinds import Part, shown
from steelyard.study.file.source import Where
from steelyard.study.lookup import known_workload
from steelyard.study.model import (
    CachesSpec,
    GeneratorSpec,
    SampleSpec,
    SystemSpec,
    TrialsSpec,
    WorkloadSpec,
)
from steelyard.study.resolve.settings import Factors
from steelyard.study.resolve.workloads.workloads import fewest_instances
from steelyard.study.workload.placeholders import texts_of

_PLACES = ("system", "host", "generator")
_GENERATOR = re.compile(r"local|ssh://[^\s/]+|instance ([2-9]|[1-9]\d+)")
_CACHES = re.compile(r"dropped before every window(?:,\s*in\s+(\S.*))?")
_LEAST_SAMPLE_S, _MOST_SAMPLE_S, _SAMPLES_OF_A_WINDOW = 0.1, 1.0, 8


def given(part: Part | None) -> dict[str, object]:
    """The keys that were written, so that defaults stay where they are declared."""
    if part is None:
        return {}
    fields = {name: getattr(part, name) for name in type(part).model_fields}
    return {name: value for name, value in fields.items() if value is not None}


def resolve_trials(part: TrialsPart, complaints: Complaints) -> TrialsSpec:
    """How trials run; quantities checked for sense."""
    written = given(part)
    written.pop("aa_control", None)  # a name, once the systems are known
    written.pop("order", None)  # removed; the plan of an earlier run holds it
    fields = {f"{key}_s": written.pop(key) for key in _DURATIONS if key in written}
    fields["margin_ratio"] = written.pop("margin")
    if part.settle is not None:
        del written["settle"]
        settle = part.settle
        fields |= {"settle_s": settle.duration_s, "settle_until_idle": settle.until_idle}
    written.pop("budget", None)
    budget = given(part.budget)
    names = {"trials": "trials_per_cell", "time": "time_s"}
    fields["budget"] = {names[key]: value for key, value in budget.items()}
    _check_trials(part, complaints)
    return TrialsSpec.model_validate(fields | written)


_MOST_KERNEL_S = 60.0
"""The limit of the engine (``crates/engine/src/kernel``)."""
_MOST_SPAN_S = 30 * 86_400.0
_SPANS = ("window", "warmup", "drain", "timeout", "settle")
_DURATIONS = ("window", "warmup", "drain", "timeout", "reference_kernel", "span")


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
    time = None if part.budget is None else part.budget.time
    if part.span is not None and time is not None and time < part.span:
        hint = "allow more time than the span, or leave the span out"
        complaints.add(("trials", "span"), "the budget ends before the span has passed", hint)
    if part.timeout is not None and part.timeout <= 0:
        hint = "10 s is the default"
        complaints.add(("trials", "timeout"), "the timeout must be above zero", hint)
    _check_pauses(part, complaints)


def _check_pauses(part: TrialsPart, complaints: Complaints) -> None:
    """What comes before a window, and how long it and the window may last."""
    kernel, settle = part.reference_kernel, part.settle
    if kernel is not None and not 0 < kernel <= _MOST_KERNEL_S:
        hint = "write a time above zero and up to 1 min, as `300 ms`; without the key it is not run"
        message = "the reference kernel cannot run for that time"
        complaints.add(("trials", "reference_kernel"), message, hint)
    if settle is not None and settle.until_idle and settle.duration_s <= 0:
        hint = "write how long it may take, as `until idle, at most 2 min`"
        complaints.add(("trials", "settle"), "no machine is seen to be idle in no time", hint)
    for key in _SPANS:
        written = settle.duration_s if key == "settle" and settle else getattr(part, key)
        if written is not None and written > _MOST_SPAN_S:
            hint = "the maximum is 30 d"
            complaints.add(("trials", key), f"no trial can have a `{key}` of that length", hint)


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
            complaints.add(("sample", "where", i), f"`{place}` is not a place to sample", hint)
    if part.every is not None and not _LEAST_SAMPLE_S <= part.every <= trials.window_s:
        hint = "write 100 ms or more, and not more than the window"
        complaints.add(("sample", "every"), "the sampling interval is out of range", hint)
    where = tuple(part.where) if part.where else SampleSpec().where
    return SampleSpec(every_s=part.every or every_s, where=where)


def resolve_generator(
    file: StudyFile, systems: Mapping[str, SystemSpec], factors: Factors, complaints: Complaints
) -> GeneratorSpec:
    """Where the load comes from."""
    written = given(file.generator)
    if file.generator is None or file.generator.host is None:
        return GeneratorSpec.model_validate(written)
    hosts = file.generator.host
    if not hosts:
        hint = "write `local`, or take it out"
        complaints.add(("generator", "host"), "it names no machine", hint)
        return GeneratorSpec()
    for i, host in enumerate(hosts):
        where: Where = ("generator", "host", i) if len(hosts) > 1 else ("generator", "host")
        if len(hosts) == 1 or not host.startswith("instance "):
            _check_generator(host, where, systems, factors, complaints)
        else:
            hint = "write machines, such as `[ssh://one, ssh://two]`, or this instance alone"
            complaints.add(where, f"`{host}` cannot share a load with other generators", hint)
    return GeneratorSpec.model_validate(written | {"host": hosts[0], "further": tuple(hosts[1:])})


def _check_generator(
    host: str,
    where: Where,
    systems: Mapping[str, SystemSpec],
    factors: Factors,
    complaints: Complaints,
) -> None:
    match = _GENERATOR.fullmatch(host)
    if match is None:
        hint = "write `local`, an address such as `ssh://loader`, or `instance 2`"
        complaints.add(where, f"`{host}` cannot be a generator", hint)
        return
    for system in systems.values():
        if match[1] and fewest_instances(system, factors) < int(match[1]):
            hint = f"write `instances: {match[1]}`, and no level of a factor below it"
            complaints.add(where, f"`{system.name}` has no instance {match[1]}", hint)


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


def check_durations(
    workloads: Mapping[str, WorkloadSpec], trials: TrialsSpec, complaints: Complaints
) -> None:
    """Adds durations that a tool cannot take, as half a second where it takes whole seconds."""
    durations_s = {"window": trials.window_s, "warmup": trials.warmup_s}
    for spec in workloads.values():
        entry = known_workload(spec)
        if entry is None or not entry.is_tool:
            continue
        asked = {place for _, text in texts_of(entry) for place in placeholders(text)}
        if entry.warmup == "beforehand" and trials.warmup_s:
            windows = [place for place in asked if place.name == "window"]
            for place in windows:
                _check(place.unit, "warmup", spec.use, trials.warmup_s, complaints)
        for place in asked:
            if place.name in durations_s:
                _check(place.unit, place.name, spec.use, durations_s[place.name], complaints)


def bound_programs(
    trials: TrialsSpec,
    part: TrialsPart,
    workloads: Mapping[str, WorkloadSpec],
    complaints: Complaints,
) -> TrialsSpec:
    """With ``timeout`` as the deadline of a run, where every workload is a program."""
    entries = [known_workload(spec) for spec in workloads.values()]
    if part.timeout is None or not all(entry is not None and entry.is_tool for entry in entries):
        return trials
    longest_s = trials.warmup_s + trials.window_s
    windows = any(entry is not None and entry.ends == "window" for entry in entries)
    if windows and part.timeout <= longest_s:
        message = f"a program that runs for {longest_s:g} s does not end in {part.timeout:g} s"
        hint = "give it more time than warm-up and window, or leave `timeout` out"
        complaints.add(("trials", "timeout"), message, hint)
    return trials.model_copy(update={"command_s": part.timeout})


def _check(unit: str | None, key: str, use: str, value_s: float, complaints: Complaints) -> None:
    try:
        in_unit(value_s, Placeholder(key, unit, 0))
    except TemplateError:
        hint = f"write a multiple of 1 {unit}"
        message = f"`{use}` takes whole {unit}, not {value_s:g} s"
        complaints.add(("trials", key), message, hint)
