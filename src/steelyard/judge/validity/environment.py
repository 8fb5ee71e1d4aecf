"""Whether the clean-up of a run is verified, by the comparisons in its ledger."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from steelyard.judge.kinds.caveats import (
    Caveat,
    CleanupIncomplete,
    CleanupNotVerified,
    CleanupVerified,
)
from steelyard.records.events import EnvironmentCompared, Event

_NAMED = 3


def cleanup_caveats(events: Sequence[Event]) -> Iterator[Caveat]:
    """One for all machines that were compared, and one for each that was not."""
    compared = [event for event in events if isinstance(event, EnvironmentCompared)]
    machines = sorted({name for event in compared for name in event.machines})
    count = sum(event.count for event in compared)
    if count:
        differences = [each for event in compared for each in event.differences]
        yield CleanupIncomplete(count=count, differences=tuple(differences[:_NAMED]))
    elif machines:
        yield CleanupVerified(machines=tuple(machines))
    errors: dict[str, str | None] = {}
    for event in compared:
        errors |= event.not_listed | dict.fromkeys(event.forced_stop)
    for name, error in errors.items():
        yield CleanupNotVerified(machine=name, error=error)
