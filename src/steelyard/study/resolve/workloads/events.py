"""The events of a study: what is done on a machine at a moment of the window."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise

from steelyard.study.declared.placeholders import placeholders
from steelyard.study.ending import counted
from steelyard.study.file.complaints import Complaints, choice_hint
from steelyard.study.file.grammar import EventPart, StudyFile
from steelyard.study.lookup import EVENT_PLACES, EVENT_WORDS, known_workload
from steelyard.study.model import BYTES, EventSpec, SystemSpec, TrialsSpec, WorkloadSpec
from steelyard.study.resolve.trials import given
from steelyard.units import format_duration

_PLACES = (*EVENT_PLACES, "local")
_ADDRESS = re.compile(r"ssh://[^\s/]+")
_CALM_OF_WINDOW = 10


def resolve_events(
    file: StudyFile,
    systems: Iterable[SystemSpec],
    workloads: Iterable[WorkloadSpec],
    trials: TrialsSpec,
    complaints: Complaints,
) -> dict[str, EventSpec]:
    """The events by name, in the order of their moments."""
    if not file.events:
        return {}
    _check_workloads(workloads, complaints)
    if file.find is not None:
        hint = "take one of them out: a search drives windows of its own"
        complaints.add(("events",), "`events` and `find` exclude each other", hint, at_key=True)
    found = [_event(name, part, trials) for name, part in file.events.items()]
    found.sort(key=lambda event: event.at_s)
    disks = dict.fromkeys(disk for system in systems for disk in system.disks)
    for event in found:
        _check_place(event, complaints)
        _check_words(event, (*EVENT_WORDS, *disks), complaints)
        _check_limit(event, trials, complaints)
    _check_moments(found, trials, complaints)
    over_s = [0.0, *(_over_s(event) for event in found)]
    return {
        event.name: event.model_copy(update={"since_s": since_s})
        for event, since_s in zip(found, over_s, strict=False)
    }


def _event(name: str, part: EventPart, trials: TrialsSpec) -> EventSpec:
    written = given(part)
    seconds = {f"{key}_s": written.pop(key) for key in _DURATIONS if key in written}
    calm_s = {"calm_s": trials.window_s / _CALM_OF_WINDOW}
    return EventSpec.model_validate({"name": name, **calm_s, **seconds, **written})


_DURATIONS = ("at", "within", "late", "calm")


def _over_s(event: EventSpec) -> float:
    """When the service is as before at the latest, if nothing is late after the event."""
    return event.at_s + event.within_s + event.calm_s


def _check_workloads(workloads: Iterable[WorkloadSpec], complaints: Complaints) -> None:
    for workload in workloads:
        entry = known_workload(workload)
        if entry is None:
            continue
        if not entry.is_load or workload.operation == BYTES:
            why = "drives no operations of the engine"
        elif counted(workload.settings) is not None:
            why = "ends by a number of operations"
        else:
            continue
        message = f"an event needs a window of operations, and `{workload.use}` {why}"
        complaints.add(("events",), message, "take it out, or drive another load", at_key=True)


def _check_place(event: EventSpec, complaints: Complaints) -> None:
    if event.on not in _PLACES and not _ADDRESS.fullmatch(event.on):
        hint = choice_hint(event.on, _PLACES, "places") + ", or an address such as `ssh://nas`"
        message = f"`{event.on}` is no machine of this study"
        complaints.add(("events", event.name, "on"), message, hint)


def _check_words(event: EventSpec, known: Sequence[str], complaints: Complaints) -> None:
    """A shell's own ``${NAME}`` is none of ours, whether it is known or not."""
    for key, words in (("command", event.command), ("undo", event.undo)):
        for number, word in enumerate(words):
            for place in placeholders(word):
                if place.name not in known and word[place.start - 1 : place.start] != "$":
                    names = choice_hint(str(place), [f"{{{name}}}" for name in known], "words")
                    hint = f"{names}; `{{ {place.name} }}` stays as it is"
                    where = ("events", event.name, key, number)
                    complaints.add(where, f"nothing fills `{place}`", hint)


def _check_limit(event: EventSpec, trials: TrialsSpec, complaints: Complaints) -> None:
    if event.late_s >= trials.timeout_s:
        hint = f"write less than the `timeout` of operations, {format_duration(trials.timeout_s)}"
        message = f"no answer of event `{event.name}` could be late: it would be out of time before"
        complaints.add(("events", event.name, "late"), message, hint)


def _check_moments(found: list[EventSpec], trials: TrialsSpec, complaints: Complaints) -> None:
    """Before each event as much calm as after it, which has to end with the window."""
    for event in found:
        where, name = ("events", event.name, "at"), event.name
        calm = format_duration(event.calm_s)
        if event.at_s >= trials.window_s:
            hint = f"the window lasts {format_duration(trials.window_s)}"
            complaints.add(where, f"event `{name}` lies beyond the window", hint)
        elif _over_s(event) > trials.window_s:
            hint = f"`at`, `within` and `calm` ({calm}) add up to {format_duration(_over_s(event))}"
            message = f"the window ends before the recovery from event `{name}` can be seen"
            complaints.add(where, message, f"{hint}: let it be earlier, or the window longer")
        elif event.at_s < event.calm_s:
            hint = f"write {calm} or more, as `calm`: what is as before must be known"
            complaints.add(where, f"event `{name}` comes too early in the window", hint)
    for first, second in pairwise(found):
        if second.at_s < _over_s(first) + second.calm_s:
            earliest = format_duration(_over_s(first) + second.calm_s)
            message = f"events `{first.name}` and `{second.name}` cannot be distinguished"
            hint = f"let it start at {earliest} or later: `within` and `calm` of both lie between"
            complaints.add(("events", second.name, "at"), message, hint)
