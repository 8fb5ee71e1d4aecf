"""Every change to a machine can be undone, even after the controller was killed.

The inverse of a change is in the ledger, synced, *before* the change is made. ``undone`` follows
when it was undone; whatever has no ``undone`` is restored by the next ``resume`` or
``restore``.

What was changed *inside* an instance of a system that is thrown away (host ``inside:LABEL``) is
gone with the instance: once the inverse that ``removes`` it was applied, it is not pending.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass

from steelyard.hosts.host import Host
from steelyard.hosts.undo.actions.inverse import Inverse
from steelyard.hosts.undo.actions.table import read_inverse
from steelyard.records.events import Event, Undone, UndoPlanned
from steelyard.records.ledger import Ledger

INSIDE = "inside:"


@dataclass(frozen=True)
class PendingUndo:
    """An inverse of the ledger that has not been applied yet.

    ``removes`` is the label of the instance that is gone once it was applied.
    """

    undo: int
    host: str
    inverse: Inverse
    removes: str | None = None

    @property
    def inside(self) -> bool:
        """Whether it lies within an instance that is thrown away as a whole."""
        return self.host.startswith(INSIDE)


class UndoLog:
    """Writes inverses before changes, and applies them. Safe to use from several threads.

    ``owed`` could not be applied because the agent of the machine had ended; whoever made the
    changes knows of them no more.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._lock = threading.Lock()
        self._unrecorded: list[Undone] = []
        self.owed: list[PendingUndo] = []
        planned = [event.undo for event in ledger.events() if isinstance(event, UndoPlanned)]
        self._next = self._first = max(planned, default=0) + 1

    def plan(self, host: str, inverse: Inverse, *, removes: str | None = None) -> PendingUndo:
        """Records ``inverse``; returns when the change may be made.

        ``removes`` is the label of an instance that this inverse removes, and with it all that
        was changed inside.
        """
        with self._lock:
            self._record()
            pending = PendingUndo(self._next, host, inverse, removes)
            self._next += 1
            self._ledger.append(_planned(pending))
        return pending

    def apply(self, host: Host, pending: PendingUndo) -> None:
        """Takes the change back and records that it was.

        Raises:
            AgentRefusal: the machine refused; the inverse stays pending.
            EngineError: the machine cannot be asked; likewise.
        """
        pending.inverse.apply(host)
        self.done(pending)

    def done(self, pending: PendingUndo) -> None:
        """Records that the change has been undone in the course of things.

        A ledger that cannot be written keeps no other change from being undone: what it lacks is
        recorded with the next, or is undone once more by ``restore``, which changes nothing.
        """
        with self._lock:
            self._unrecorded.append(Undone(undo=pending.undo))
            with suppress(OSError):
                self._record()

    def _record(self) -> None:
        while self._unrecorded:
            self._ledger.append(self._unrecorded[0])
            del self._unrecorded[0]

    def pending(self) -> list[PendingUndo]:
        """What is still to be undone, newest change first."""
        return pending_undos(self._ledger.events())

    def left_before(self) -> list[PendingUndo]:
        """What of that was planned before this log was opened: by sessions that ended early."""
        return [pending for pending in self.pending() if pending.undo < self._first]


def pending_undos(events: Sequence[Event]) -> list[PendingUndo]:
    """What is still to be undone, newest change first.

    Raises:
        RecordError: another version of steelyard stored an inverse among them.
    """
    pending: dict[int, UndoPlanned] = {}
    for event in events:
        if isinstance(event, UndoPlanned):
            pending[event.undo] = event
        elif isinstance(event, Undone):
            planned = pending.pop(event.undo, None)
            if planned is not None and planned.removes is not None:
                _forget_inside(pending, planned.removes)
    return [_read(event) for event in reversed(pending.values())]


def _planned(pending: PendingUndo) -> UndoPlanned:
    inverse = json.loads(json.dumps(asdict(pending.inverse)))
    return UndoPlanned(
        undo=pending.undo, host=pending.host, removes=pending.removes, inverse=inverse
    )


def _forget_inside(pending: dict[int, UndoPlanned], label: str) -> None:
    """What lay inside is gone with the instance, unless something of that still stands."""
    if any(event.removes == label for event in pending.values()):
        return
    for number in [n for n, event in pending.items() if event.host == INSIDE + label]:
        del pending[number]


def _read(event: UndoPlanned) -> PendingUndo:
    return PendingUndo(event.undo, event.host, read_inverse(event.inverse), event.removes)
