"""The changes of settings on one machine: each with its inverse before it, and read back after."""

from __future__ import annotations

import contextlib

from steelyard.engine.agent import AgentRefusal
from steelyard.errors import EngineError
from steelyard.hosts.failures import FailureKind, SystemFailure
from steelyard.hosts.host import Host
from steelyard.hosts.kernel_values import same, shown
from steelyard.hosts.undo.actions.files import value_inverse
from steelyard.hosts.undo.actions.inverse import Inverse
from steelyard.hosts.undo.log import PendingUndo, UndoLog
from steelyard.systems.settings.applied import Place


class Changes:
    """What was changed so far, newest last."""

    def __init__(self, host: Host, undo: UndoLog, place: Place) -> None:
        self.host = host
        self.place = place
        self.made: list[PendingUndo] = []
        self._undo = undo

    def plan(self, inverse: Inverse) -> PendingUndo:
        """Records the inverse; the change may be made when this returns."""
        pending = self._undo.plan(self.host.name, inverse)
        self.made.append(pending)
        return pending

    def settled(self, pending: PendingUndo) -> None:
        """The inverse is not needed any more: narrower ones stand in the ledger."""
        self._undo.done(pending)
        self.made.remove(pending)

    def write(self, setting: str, path: str, value: str, inverse: Inverse | None = None) -> None:
        """Writes a value of the kernel; one that holds already is not touched.

        Raises:
            SystemFailure: ``not_supported`` or ``no_rights``; the kernel's own words are reported.
        """
        before = self.value(setting, path)
        if same(before, value):
            return
        ours = value if self.place.is_shared else None
        self.plan(inverse or value_inverse(self.host, path, shown(before), ours))
        try:
            self.host.write_file(path, value)
        except AgentRefusal as refusal:
            raise _not_taken(self.host, setting, value, before, refusal) from refusal
        now = self.value(setting, path)
        if not same(now, value):
            raise SystemFailure(
                "not_supported",
                f"on {self.host.name}: `{setting}` did not take: {value!r} was written to {path}, "
                f"and the kernel shows {shown(now)!r}",
            )

    def value(self, setting: str, path: str) -> str:
        """What a file of the kernel holds.

        Raises:
            SystemFailure: ``not_supported``: the kernel has none.
        """
        try:
            return self.host.read_file(path)
        except AgentRefusal as refusal:
            message = f"on {self.host.name}: `{setting}`: {refusal.failure.message}"
            raise SystemFailure(_kind(refusal), message) from refusal

    def undo(self) -> None:
        """Undoes all of it, newest first; what cannot be undone now stays in the ledger.

        Where the agent has ended, it is owed.
        """
        for pending in reversed(self.made):
            try:
                with contextlib.suppress(AgentRefusal):
                    self._undo.apply(self.host, pending)
            except EngineError:
                self._undo.owed.append(pending)
        self.made.clear()


def _not_taken(
    host: Host, setting: str, value: str, before: str, refusal: AgentRefusal
) -> SystemFailure:
    message = f"on {host.name}: `{setting}` cannot be {value!r}: {refusal.failure.message}"
    choices = " ".join(before.replace("[", "").replace("]", "").split())
    now = f"it is {before.strip()} now, and the kernel takes no such value"
    hint = f"it can be: {choices}" if "[" in before else refusal.failure.hint or now
    return SystemFailure(_kind(refusal), message, hint)


def _kind(refusal: AgentRefusal) -> FailureKind:
    return "no_rights" if refusal.failure.kind == "permission_denied" else "not_supported"
