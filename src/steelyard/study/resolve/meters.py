"""The meter of a system: its file found, its settings read, contradictions named."""

from __future__ import annotations

from collections.abc import Mapping

from steelyard.errors import StudyError
from steelyard.study import catalogue
from steelyard.study.file.complaints import Complaints, choice_hint
from steelyard.study.file.grammar import MeterPart, StudyFile
from steelyard.study.file.source import Where
from steelyard.study.lookup import METER_FILES
from steelyard.study.model import MeasuredSpec, MeterSpec, SystemSpec
from steelyard.study.resolve.settings import read_settings

METERED = ("power.mean", "power.energy")
"""Responses that a meter gives in place of the counters of processors."""


def resolve_meter(part: MeterPart, where: Where, complaints: Complaints) -> MeterSpec:
    """One meter with every setting of its file."""
    try:
        named = METER_FILES.named(part.use, complaints.source.path)
    except StudyError as error:
        complaints.found |= set(error.complaints)
        return MeterSpec(use=part.use)
    if named is None:
        hint = choice_hint(part.use, catalogue.names("meters"), "meters")
        hint += "; to use a file of your own, give its path: `./mine.yaml`"
        complaints.add((*where, "use"), f"there is no meter `{part.use}`", hint)
        return MeterSpec(use=part.use)
    entry, text = named
    written = part.further()
    values, levels = read_settings(
        written, entry.settings, where, complaints, noun=f"settings of {part.use}"
    )
    for key in levels:
        hint = "write one value: a machine has one meter"
        complaints.add((*where, key), f"`{key}` of a meter cannot be a list", hint)
    for key, setting in entry.settings.items():
        if setting.required and not written.get(key):
            hint = f"add `{key}: ...`: {setting.meaning}"
            complaints.add(where, f"`{where[-1]}` needs `{key}`", hint)
    return MeterSpec(use=part.use, settings=values, text=text)


def check_meters(
    file: StudyFile,
    systems: Mapping[str, SystemSpec],
    measured: Mapping[str, MeasuredSpec],
    complaints: Complaints,
) -> None:
    """One machine a meter; what is compared is measured by meters of all systems, or of none."""
    with_one = [name for name, system in systems.items() if system.meter is not None]
    if not with_one:
        return
    if file.machines:
        message = "a meter measures one machine, and each of several carries the systems"
        hint = "take the meter out, or leave one machine"
        complaints.add(_place(file, with_one[0]), message, hint, at_key=True)
    asked = {
        name
        for each in measured.values()
        for name in (*each.responses, *each.gates, *each.guardrails)
        if name in METERED
    }
    without = [name for name in systems if name not in with_one]
    if asked and without:
        name, other = min(asked), without[0]
        message = f"`{name}` of `{with_one[0]}` comes from a meter, and that of `{other}` is not"
        hint = "give every system a meter, or none: processors count less than a socket"
        complaints.add(("systems", other), message, hint, at_key=True)


def _place(file: StudyFile, system: str) -> Where:
    part = file.systems.get(system)
    own = part is not None and part.meter is not None
    return ("systems", system, "meter") if own else ("defaults", "meter")
