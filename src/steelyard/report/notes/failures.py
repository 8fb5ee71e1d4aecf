"""How operations failed that a trial has counted."""

from __future__ import annotations

from steelyard.records.schema import FailedOperations
from steelyard.report.figures import counted
from steelyard.report.notes.registry import writes


@writes(FailedOperations)
def failed_operations_text(note: FailedOperations) -> str:
    """``HTTP status 500 in phase ttfb, 3 operations (reply: No room)``."""
    said = f" (reply: {note.reply})" if note.reply else ""
    return f"{_how(note)} in phase {note.phase}, {counted(note.count, 'operation')}{said}"


def _how(note: FailedOperations) -> str:
    return note.error.replace("_", " ") if note.status is None else f"HTTP status {note.status}"
