"""A system that never worked and fails the same way each time: trying on would only take time.

Failures are alike when phase, outcome and words are the same, numbers aside. Only such count that
lie with the system: a trial that was measured and does not count, or a machine that did not answer,
may end differently the next time.
"""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.records.message_text import masked
from steelyard.records.schema import Outcome, TrialRecord
from steelyard.trial.attempt.outcomes import NOT_AN_ATTEMPT

ATTEMPTS = 3
_BY_CHANCE = frozenset(
    {
        Outcome.INVALID,
        Outcome.REFUSED_BY_GATE,
        Outcome.TIMED_OUT,
        Outcome.UNREACHABLE,
        Outcome.AGENT_LOST,
    }
)


class Repetition:
    """The last attempts in a row that failed alike, by system; of those that never worked."""

    def __init__(self) -> None:
        self._worked: set[str] = set()
        self._alike: dict[str, list[TrialRecord]] = {}

    def add(self, record: TrialRecord) -> None:
        """One more attempt."""
        system = record.cell.system
        if record.outcome is Outcome.OK:
            self._worked.add(system)
        if record.outcome in NOT_AN_ATTEMPT or system in self._worked:
            return
        row = self._alike.setdefault(system, [])
        if record.failure is None or record.outcome in _BY_CHANCE:
            row.clear()
            return
        if row and _said(row[-1]) != _said(record):
            row.clear()
        row.append(record)

    def of(self, system: str) -> Sequence[TrialRecord]:
        """Three attempts or more, or none."""
        row = self._alike.get(system, ())
        return row if system not in self._worked and len(row) >= ATTEMPTS else ()


def _said(record: TrialRecord) -> tuple[Outcome, str, str]:
    failure = record.failure
    phase, message = ("", "") if failure is None else (failure.phase, failure.message)
    return record.outcome, phase, masked(message)
