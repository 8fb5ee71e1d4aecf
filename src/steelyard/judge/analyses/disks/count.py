"""The checks of disks, from records and from the ledger: a system that stays up has them there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from steelyard.judge.analyses.disks.findings import DamagedDisk, DiskFinding
from steelyard.plan.model import Plan
from steelyard.records.disk_checks import DiskCheck
from steelyard.records.events import DisksChecked, Event
from steelyard.records.schema import TrialRecord

Made = tuple[DiskCheck, int | None, int | None]
"""A check with trial and attempt."""


def disk_findings(
    plan: Plan, records: Sequence[TrialRecord], events: Sequence[Event]
) -> Iterator[DiskFinding]:
    """One for each system whose disks were checked, in the order of the study."""
    for system in plan.systems:
        made = checks_of(system, records, events)
        if made:
            yield found_of(system, made)


def checks_of(system: str, records: Iterable[TrialRecord], events: Iterable[Event]) -> list[Made]:
    """All of one system."""
    own = (record for record in records if record.cell.system == system)
    found: list[Made] = [(each, r.trial, r.attempt) for r in own for each in r.disk_checks]
    for event in events:
        if isinstance(event, DisksChecked) and event.system == system:
            found += [(each, None, None) for each in event.disk_checks]
    return found


def found_of(system: str, made: Sequence[Made]) -> DiskFinding:
    return DiskFinding(
        system=system,
        checks=len(made),
        unchecked=sum(not check.checked for check, *_ in made),
        damaged=tuple(
            DamagedDisk(
                trial=trial,
                attempt=attempt,
                instance=check.instance,
                disk=check.disk,
                device=check.device,
                damage=check.damage,
            )
            for check, trial, attempt in made
            if check.damage
        ),
    )
