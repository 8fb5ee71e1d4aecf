"""Why trials have no value of a response."""

from __future__ import annotations

from steelyard.judge.kinds.not_measured import AttemptFailed, ValueMissing
from steelyard.report.notes.missing import missing_text
from steelyard.report.notes.registry import writes


@writes(AttemptFailed)
def _attempt_failed(note: AttemptFailed) -> str:
    outcome = note.outcome.replace("_", " ")
    return f"trial {note.trial}, attempt {note.attempt}: {outcome}"


@writes(ValueMissing)
def _value_missing(note: ValueMissing) -> str:
    return "not recorded" if note.reason is None else missing_text(note.reason)
