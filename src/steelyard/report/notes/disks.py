"""What was found of disks, and what that says of a claim."""

from __future__ import annotations

from steelyard.judge.kinds.integrity import DisksDamaged, DisksNotChecked, ErrorsSeen
from steelyard.records.disk_checks import (
    CannotBeMounted,
    ContentChanged,
    CopiesDiffer,
    FilesystemDamaged,
)
from steelyard.report.figures import counted, listed
from steelyard.report.notes.registry import writes


@writes(FilesystemDamaged)
def _filesystem_damaged(note: FilesystemDamaged) -> str:
    found = f"`{note.command}` found errors in the filesystem (exit code {note.exit_code})"
    return f"{found}: {note.said.rstrip('.')}"


@writes(CopiesDiffer)
def _copies_differ(note: CopiesDiffer) -> str:
    return f"{counted(note.sectors, 'sector')} of the mirror differ between its disks"


@writes(CannotBeMounted)
def _cannot_be_mounted(note: CannotBeMounted) -> str:
    return f"the filesystem could not be mounted again: {note.said.rstrip('.')}"


@writes(ContentChanged)
def _content_changed(note: ContentChanged) -> str:
    more = "" if note.files == len(note.names) else " and others"
    verb = "is" if note.files == 1 else "are"
    own = ", the test file among them" if note.test_file and note.files > 1 else ""
    named = f"{listed(list(note.names))}{more}{own}"
    return f"{counted(note.files, 'file')} {verb} not what was written: {named}"


@writes(DisksDamaged)
def _disks_damaged(note: DisksDamaged) -> str:
    verb = "was" if note.damaged == 1 else "were"
    return f"{note.damaged} of {counted(note.checks, 'disk check')} of {note.system} {verb} damaged"


@writes(DisksNotChecked)
def _disks_not_checked(note: DisksNotChecked) -> str:
    if not note.checks:
        return f"no disk of {note.system} was checked"
    return f"{note.unchecked} of {counted(note.checks, 'disk check')} of {note.system} failed"


@writes(ErrorsSeen)
def _errors_seen(note: ErrorsSeen) -> str:
    said = [counted(note.operations, "operation")] if note.operations else []
    said += [counted(note.attempts, "attempt")] if note.attempts else []
    return f"{listed(said)} of {note.system} failed"
