"""On which machines the trials ran, and which of them the load came from."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.records.schema import TrialRecord
from steelyard.study.lookup import EXTERNAL, has_agent
from steelyard.study.model import StudyDesign, SystemSpec

_IDENTITY = "machine_id.sha256"
_SSH = "ssh://"


def machines_of(study: StudyDesign, records: Sequence[TrialRecord]) -> dict[str, str]:
    """The machine that carries each measured system: as all told it, else as the study says it."""
    measured = sorted({record.cell.system for record in records})
    told = {
        record.cell.system: identity
        for record in records
        if (identity := host_machine_facts(record).get(_IDENTITY)) is not None
    }
    if told.keys() >= set(measured):
        return told
    return {name: machine_name(study.systems.get(name)) for name in measured}


def host_machine_facts(record: TrialRecord) -> dict[str, str | None]:
    """Of the machine itself: a guest reports the processor that it is given."""
    return record.facts.get("host") or record.facts.get("system", {})


def machine_name(system: SystemSpec | None) -> str:
    """Where a system lives, as the study says it; ``local`` is the controller's machine."""
    if system is None:
        return "local"
    if not has_agent(system):
        return f"{EXTERNAL} {_address(system) or system.name}"
    if system.platform == "ssh":
        return _SSH + str(system.settings["host"]).removeprefix(_SSH)
    return system.host_machine


def _address(system: SystemSpec) -> str | None:
    """The host that its service is reached at, without the port."""
    address = None if system.service is None else system.service.settings.get("address")
    return address.rpartition(":")[0] if isinstance(address, str) else None


def beside_the_load(study: StudyDesign) -> tuple[str, ...]:
    """Systems on a machine that the load comes from; all where an instance sends it."""
    generator = study.generator
    return tuple(
        name
        for name, system in study.systems.items()
        if has_agent(system)
        and (generator.instance is not None or machine_name(system) in generator.hosts)
    )
