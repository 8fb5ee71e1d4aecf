"""Every change to a machine can be taken back, even after the controller was killed.

The inverse of a change is in the ledger, synced, *before* the change is made. ``undone`` follows
when it was taken back; whatever has no ``undone`` is put right by the next ``resume`` or
``restore``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

from steelyard.hosts.host import Host
from steelyard.records.ledger import Event, Ledger


@dataclass(frozen=True)
class RemoveTree:
    """A folder that was made is removed with all below it."""

    path: str
    kind: str = "remove_tree"

    def __str__(self) -> str:
        return f"remove the folder {self.path}"

    def apply(self, host: Host) -> None:
        host.remove_tree(self.path)


@dataclass(frozen=True)
class EndProcess:
    """A process that was started is ended, if it is still the same one."""

    pid: int
    start_ticks: int
    kind: str = "end_process"

    def __str__(self) -> str:
        return f"end the agent with process id {self.pid}"

    def apply(self, host: Host) -> None:
        host.kill_stale(self.pid, self.start_ticks)


Inverse = RemoveTree | EndProcess
INVERSES: dict[str, Callable[..., Inverse]] = {
    "remove_tree": RemoveTree,
    "end_process": EndProcess,
}


@dataclass(frozen=True)
class PendingUndo:
    """An inverse of the ledger that has not been applied yet."""

    undo: int
    host: str
    inverse: Inverse


class UndoLog:
    """Writes inverses before changes, and applies them, newest first."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        planned = [event["undo"] for event in ledger.events() if event["event"] == "undo_planned"]
        self._next = max(planned, default=0) + 1

    def plan(self, host: str, inverse: Inverse) -> PendingUndo:
        """Records ``inverse``; returns when the change may be made."""
        pending = PendingUndo(self._next, host, inverse)
        self._next += 1
        self._ledger.append("undo_planned", undo=pending.undo, host=host, inverse=asdict(inverse))
        return pending

    def apply(self, host: Host, pending: PendingUndo) -> None:
        """Takes the change back and records that it was.

        Raises:
            AgentRefusal: the machine refused; the inverse stays pending.
        """
        pending.inverse.apply(host)
        self.done(pending)

    def done(self, pending: PendingUndo) -> None:
        """Records that the change has been taken back in the course of things."""
        self._ledger.append("undone", undo=pending.undo)


def pending_undos(events: list[Event]) -> list[PendingUndo]:
    """What is still to be taken back, newest change first."""
    done = {event["undo"] for event in events if event["event"] == "undone"}
    return [pending for pending in _planned(events) if pending.undo not in done][::-1]


def _planned(events: list[Event]) -> Iterator[PendingUndo]:
    for event in events:
        if event["event"] == "undo_planned":
            yield PendingUndo(event["undo"], event["host"], _inverse(event["inverse"]))


def _inverse(fields: dict[str, Any]) -> Inverse:
    return INVERSES[fields["kind"]](**fields)
