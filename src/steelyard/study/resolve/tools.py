"""Whether a study's durations are such that its tools can be told them."""

from __future__ import annotations

from collections.abc import Mapping

from steelyard.study.file.complaints import Complaints
from steelyard.study.model import TrialsSpec, WorkloadSpec
from steelyard.study.places import Place, TemplateError, in_unit, places
from steelyard.study.workload.own import known_workload
from steelyard.study.workload.places import texts_of


def check_durations(
    workloads: Mapping[str, WorkloadSpec], trials: TrialsSpec, complaints: Complaints
) -> None:
    """Adds what a tool cannot be told, as half a second where it takes whole seconds."""
    told = {"window": trials.window_s, "warmup": trials.warmup_s}
    for spec in workloads.values():
        entry = known_workload(spec)
        if entry is None or not entry.is_tool:
            continue
        asked = {place for _, text in texts_of(entry) for place in places(text)}
        if entry.warms_up == "beforehand" and trials.warmup_s:
            windows = [place for place in asked if place.name == "window"]
            for place in windows:
                _check(place.unit, "warmup", spec.use, trials.warmup_s, complaints)
        for place in asked:
            if place.name in told:
                _check(place.unit, place.name, spec.use, told[place.name], complaints)


def _check(unit: str | None, key: str, use: str, value_s: float, complaints: Complaints) -> None:
    try:
        in_unit(value_s, Place(key, unit, 0))
    except TemplateError:
        hint = f"write a multiple of 1 {unit}"
        message = f"`{use}` cannot be told {value_s:g} s: it takes whole {unit}"
        complaints.add(("trials", key), message, hint)
