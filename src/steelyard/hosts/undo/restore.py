"""Undoes what a run has left on machines: newest first, and as much of it as can be.

One inverse that fails does not keep the others: each looks itself whether what it needs is there,
so those that depend on the failed one refuse, too, and all others are done. What was refused is
asked once more when all else is undone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from steelyard.engine.agent import AgentRefusal
from steelyard.errors import EngineError, HostError, SteelyardError
from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.host import Host
from steelyard.hosts.undo.actions.files import RemoveTree
from steelyard.hosts.undo.actions.inverse import Inverse, refused
from steelyard.hosts.undo.actions.processes import AGENT, EndProcess
from steelyard.hosts.undo.actions.storage import DetachLoop, Unmount, WipeSignatures
from steelyard.hosts.undo.log import PendingUndo, UndoLog
from steelyard.hosts.undo.ours import SCRATCH, RunFolders

Opener = Callable[[str], Host]
"""From the name of a machine to its open agent, opened again should it have been lost. Raises
``SteelyardError`` or ``SystemFailure`` when the machine cannot be reached.
"""


@dataclass(frozen=True)
class Left:
    """An inverse that stays pending, and why."""

    pending: PendingUndo
    why: str
    hint: str | None = None

    def __str__(self) -> str:
        return f"on {self.pending.host}: cannot {self.pending.inverse}: {self.why}"


@dataclass
class Restored:
    """What became of the inverses that were pending."""

    undone: list[PendingUndo] = field(default_factory=list)
    left: list[Left] = field(default_factory=list)


def restore_all(log: UndoLog, open_machine: Opener, folders: RunFolders | None = None) -> Restored:
    """Applies every inverse that was left pending before ``log`` was opened.

    What cannot be applied now stays pending and is reported. What was planned through ``log``
    itself belongs to whoever is at work: its own agents, above all.

    ``folders`` are those that the run may have made; no other is removed.

    Raises:
        RecordError: another version of steelyard stored an inverse among them.
        OSError: the ledger cannot be written.
    """
    machines = _Machines(open_machine, folders)
    restored = Restored()
    refused = []
    for pending in sorted(log.left_before(), key=_is_no_agent):
        if pending.inside:
            continue  # it goes with its instance, which is older and comes later
        if machines.apply(log, pending) is None:
            restored.undone.append(pending)
        else:
            refused.append(pending)
    for pending in refused:  # a file of a disk that was mounted read-only, say: it is gone now
        left = machines.apply(log, pending)
        if left is None:
            restored.undone.append(pending)
        else:
            restored.left.append(left)
    restored.left += [_still_inside(pending) for pending in log.left_before() if pending.inside]
    return restored


def _is_no_agent(pending: PendingUndo) -> bool:
    """Agents come first: one that outlived its controller may still be changing something."""
    inverse = pending.inverse
    return not (isinstance(inverse, EndProcess) and inverse.what == AGENT)


class _Machines:
    """Machines by name; one that cannot be reached is asked once."""

    def __init__(self, open_machine: Opener, folders: RunFolders | None) -> None:
        self._open = open_machine
        self._folders = folders
        self._unreachable: dict[str, tuple[str, str | None]] = {}

    def apply(self, log: UndoLog, pending: PendingUndo) -> Left | None:
        if pending.host in self._unreachable:
            return Left(pending, *self._unreachable[pending.host])
        try:
            self._apply_even_if_lost(log, pending)
        except AgentRefusal as refusal:
            return Left(pending, refusal.failure.message, refusal.failure.hint)
        except (SteelyardError, SystemFailure) as error:
            in_use = isinstance(error, HostError) and error.slug == "machine-is-in-use"
            why = error.message if in_use else f"the machine cannot be reached: {error.message}"
            self._unreachable[pending.host] = (why, error.hint)
            return Left(pending, why, error.hint)
        return None

    def _apply_even_if_lost(self, log: UndoLog, pending: PendingUndo) -> None:
        try:
            self._apply(log, pending)
        except EngineError:  # its agent has ended: one that is new may be able to
            self._apply(log, pending)

    def _apply(self, log: UndoLog, pending: PendingUndo) -> None:
        host = self._open(pending.host)
        if self._folders is not None:
            _refuse_foreign(host, pending, self._folders)
        log.apply(host, pending)


def _refuse_foreign(host: Host, pending: PendingUndo, folders: RunFolders) -> None:
    inverse = pending.inverse
    _refuse_moved(inverse, folders)
    if not isinstance(inverse, RemoveTree) or folders.holds(inverse.path):
        return
    if host.path_facts(inverse.path).exists:
        raise refused(
            f"{inverse.path} is no folder that the run in {folders.run} can have made",
            "if the folder of the run was moved, move it back or remove the folder by hand; else "
            "somebody has edited the ledger",
        )


def _refuse_moved(inverse: Inverse, folders: RunFolders) -> None:
    """What lies in the run's own folder is looked for by its path: where the folder was moved
    away, nothing would be found, and that would be taken for undone.
    """
    place = _place_of(inverse)
    if place is None or folders.holds(place):
        return
    before, found, _ = place.partition(f"/{folders.run.name}/{SCRATCH}")
    if found:
        raise refused(
            f"the folder of the run was {before}/{folders.run.name}, and is {folders.run}",
            "move it back, and run `steelyard restore` there",
        )


def _place_of(inverse: Inverse) -> str | None:
    """The path by which what is to be undone is found."""
    match inverse:
        case RemoveTree():
            return inverse.path
        case Unmount():
            return inverse.mount_point
        case DetachLoop() | WipeSignatures():
            return inverse.backing_file
    return None


def _still_inside(pending: PendingUndo) -> Left:
    return Left(pending, "the instance it was made in has not been removed")
