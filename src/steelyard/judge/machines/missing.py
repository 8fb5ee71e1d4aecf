"""Which of several machines have left by an error, by their ledgers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from steelyard.judge.kinds.caveats import MachineMissing
from steelyard.records.events import AttemptFinished, Event, MachineLeft
from steelyard.records.message_text import first_line
from steelyard.records.schema import Outcome


def missing_machines(
    events: Mapping[str, Sequence[Event]], visits: Mapping[str, int]
) -> Iterator[MachineMissing]:
    """Those that were not measured since; ``visits`` are those done on each machine."""
    last_ns = max((each.at_unix_ns for own in events.values() for each in own), default=0)
    for name, own in events.items():
        left = _left(own)
        if left is not None:
            yield MachineMissing(
                machine=name,
                visits=visits[name],
                visits_most=max(visits.values()),
                missing_s=(last_ns - left.at_unix_ns) / 1e9,
                error=first_line(left.message),
            )


def _left(events: Sequence[Event]) -> MachineLeft | None:
    for event in reversed(events):
        if isinstance(event, MachineLeft):
            return event
        if isinstance(event, AttemptFinished) and event.outcome is Outcome.OK:
            return None
    return None
