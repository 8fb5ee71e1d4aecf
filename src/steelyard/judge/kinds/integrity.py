"""What contradicts a claim that a system is without damage or errors, or leaves it open."""

from __future__ import annotations

from typing import Literal

from steelyard.records.note import Note


class DisksDamaged(Note):
    """So many disks of a system were found damaged, of so many that were checked."""

    kind: Literal["disks_damaged"] = "disks_damaged"
    system: str
    damaged: int
    checks: int


class DisksNotChecked(Note):
    """No disk of a system was checked, or so many of the checks brought nothing to their end."""

    kind: Literal["disks_not_checked"] = "disks_not_checked"
    system: str
    unchecked: int
    checks: int


class ErrorsSeen(Note):
    """So many operations and attempts of a system failed; invalid attempts are no errors."""

    kind: Literal["errors_seen"] = "errors_seen"
    system: str
    operations: int
    attempts: int
