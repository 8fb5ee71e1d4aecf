"""What a claim says that its subject is without: damage to its disks, errors."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.judge.analyses.claims.findings import ClaimWord
from steelyard.judge.analyses.disks.count import checks_of, found_of
from steelyard.judge.kinds.integrity import DisksDamaged, DisksNotChecked, ErrorsSeen
from steelyard.records.events import Event
from steelyard.records.schema import Outcome, TrialRecord
from steelyard.study.model import ClaimSpec

_NO_ERRORS = frozenset(
    {Outcome.OK, Outcome.INVALID, Outcome.INTERRUPTED, Outcome.CONTROLLER_LOST, Outcome.DAMAGED}
)
Broken = DisksDamaged | DisksNotChecked | ErrorsSeen


def broken_by(
    claim: ClaimSpec, system: str, records: Sequence[TrialRecord], events: Sequence[Event]
) -> tuple[ClaimWord, Broken] | None:
    """The word that a subject brings on a claim whatever its ratios are, with the reason."""
    if "damage" in claim.without:
        found = found_of(system, checks_of(system, records, events))
        figures = {"system": system, "checks": found.checks}
        if found.damaged:
            damaged = DisksDamaged(damaged=len(found.damaged), **figures)
            return ClaimWord.CONTRADICTED, damaged
        if found.unchecked or not found.checks:
            return ClaimWord.NOT_JUDGED, DisksNotChecked(unchecked=found.unchecked, **figures)
    if "errors" in claim.without:
        errors = _errors(system, records)
        return (ClaimWord.CONTRADICTED, errors) if errors is not None else None
    return None


def _errors(system: str, records: Sequence[TrialRecord]) -> ErrorsSeen | None:
    own = [record for record in records if record.cell.system == system]
    operations = sum(each.count for record in own for each in record.failed_operations)
    attempts = sum(record.outcome not in _NO_ERRORS for record in own)
    if not operations and not attempts:
        return None
    return ErrorsSeen(system=system, operations=operations, attempts=attempts)
