"""Why trials have no value of a response."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, Literal

from pydantic import Field

from steelyard.records.missing import Missing
from steelyard.records.note import Note
from steelyard.records.schema import Outcome, TrialRecord


class AttemptFailed(Note):
    """An attempt was not valid."""

    kind: Literal["attempt_failed"] = "attempt_failed"
    trial: int
    attempt: int
    outcome: Outcome


class ValueMissing(Note):
    """A valid trial has no value, by the ``reason`` of its record."""

    kind: Literal["value_missing"] = "value_missing"
    reason: Missing | None


NotMeasured = Annotated[AttemptFailed | ValueMissing, Field(discriminator="kind")]


def not_measured(records: Sequence[TrialRecord], response: str) -> tuple[NotMeasured, ...]:
    """One for each failed attempt, and one for each reason why a value is missing."""
    return tuple(dict.fromkeys(_reasons(records, response)))


def _reasons(records: Sequence[TrialRecord], response: str) -> Iterator[NotMeasured]:
    for record in records:
        if record.outcome is not Outcome.OK:
            yield AttemptFailed(trial=record.trial, attempt=record.attempt, outcome=record.outcome)
        elif record.value(response) is None:
            found = record.responses.get(response)
            yield ValueMissing(reason=None if found is None else found.missing)
