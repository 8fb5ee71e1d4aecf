"""The meter of a system: its file found, its settings read, contradictions named."""

from __future__ import annotations

from collections.abc import Mapping

from steelyard.study.declared.placeholders import whole_placeholder
from steelyard.study.declared.setting import Settings
from steelyard.study.file.complaints import Complaints
from steelyard.study.file.grammar import MeterPart, StudyFile
from steelyard.study.file.source import Where
from steelyard.study.lookup import METER_FILES
from steelyard.study.meter.entry import Meter
from steelyard.study.model import MeasuredSpec, MeterSpec, SystemSpec
from steelyard.study.resolve.entries import named_entry
from steelyard.study.resolve.settings import single_settings

METERED = ("power.mean", "power.energy")
"""Responses that a meter gives in place of the counters of processors."""


def resolve_meter(part: MeterPart, where: Where, complaints: Complaints) -> MeterSpec:
    """One meter with every setting of its file."""
    named = named_entry(METER_FILES, part.use, (*where, "use"), complaints)
    if named is None:
        return MeterSpec(use=part.use)
    entry, text = named
    values = single_settings(
        part.further(),
        entry.settings,
        where,
        complaints,
        of=("meter", part.use),
        instead="write one value: a machine has one meter",
    )
    _check_factor(entry, values, where, complaints)
    return MeterSpec(use=part.use, settings=values, text=text)


def _check_factor(entry: Meter, values: Settings, where: Where, complaints: Complaints) -> None:
    """By nothing, or less, all readings would become none: the trials would have no figure."""
    place = whole_placeholder(str(entry.value.factor))
    factor = None if place is None else values.get(place.name)
    if place is not None and isinstance(factor, int | float) and factor <= 0:
        message = f"`{place.name}` is {factor:g}, by which no reading can be multiplied"
        complaints.add((*where, place.name), message, "write a number above zero")


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
