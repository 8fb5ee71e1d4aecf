"""Whether the clean-up of a run is verified, by the comparisons in its ledger."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from steelyard.judge.kinds.caveats import (
    Caveat,
    ChangedByOthers,
    CleanupIncomplete,
    CleanupNotVerified,
    CleanupVerified,
)
from steelyard.records.events import EnvironmentCompared, Event, Undone, UndoPlanned

_NAMED = 3
_INSIDE = "inside:"


def cleanup_caveats(events: Sequence[Event]) -> Iterator[Caveat]:
    """One for all machines that were compared or have changes that were not undone, and one for
    each that was not compared.

    What others changed meanwhile has one of its own.
    """
    compared = [event for event in events if isinstance(event, EnvironmentCompared)]
    machines = sorted({name for event in compared for name in event.machines})
    count = sum(event.count for event in compared)
    others = [each for event in compared for each in event.others]
    pending = _pending(events)
    if count or pending:
        differences = [each for event in compared for each in event.differences]
        yield CleanupIncomplete(
            count=count, pending=pending, differences=tuple(differences[:_NAMED])
        )
    elif machines:
        yield CleanupVerified(machines=tuple(machines), by_others=len(others))
    if others:
        yield ChangedByOthers(count=len(others), differences=tuple(others[:_NAMED]))
    errors: dict[str, str | None] = {}
    for event in compared:
        errors |= event.not_listed | dict.fromkeys(event.forced_stop)
    for name, error in errors.items():
        yield CleanupNotVerified(machine=name, error=error)


def _pending(events: Sequence[Event]) -> int:
    """Changes of machines that were not undone; those inside an instance went with it."""
    undone = {event.undo for event in events if isinstance(event, Undone)}
    return sum(
        isinstance(event, UndoPlanned)
        and event.undo not in undone
        and not event.host.startswith(_INSIDE)
        for event in events
    )
