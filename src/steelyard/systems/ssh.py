"""Another machine, reached with the user's own ``ssh``.

It is not discarded: whatever is made there is in the ledger first and undone, and it
is restarted only when the study asks for ``reset: boot`` and the system says ``may_reboot: true``.
"""

from __future__ import annotations

import contextlib
import dataclasses
import time
from collections.abc import Sequence

from steelyard.engine.agent import AgentRefusal
from steelyard.errors import EngineError
from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.host import Host
from steelyard.hosts.ssh import NOT_YET, SCHEME
from steelyard.hosts.tool import attempt, tell
from steelyard.hosts.undo.actions.files import RemoveTree
from steelyard.hosts.undo.log import PendingUndo
from steelyard.study.model import Reset
from steelyard.study.platform.settings import SshSettings
from steelyard.systems.loop_disks import LoopDisks
from steelyard.systems.platform import AttachedDisk, Costs, InstanceContext, RawDisk, ResetProof

FILES_IN = "/var/tmp"  # noqa: S108 - names below it are the run's own
"""Where a trial keeps its files on the machine."""
BOOT_TIMEOUT_S = 600.0
_BETWEEN_TRIES_S = 2.0


class Ssh:
    """A system on a machine of its own."""

    def __init__(self, context: InstanceContext) -> None:
        self.context = context
        self._settings = SshSettings.of(context.spec.settings)
        self._address = SCHEME + self._settings.host.removeprefix(SCHEME)
        self._folder = f"{FILES_IN}/{context.label}"
        there = dataclasses.replace(context, host_machine=self.host, folder=self._folder)
        self._loops = LoopDisks(there)
        self._made: PendingUndo | None = None
        self._host: Host | None = None

    def up(self) -> None:
        host = self.host()
        if self._made is not None:
            return
        if host.path_facts(self._folder).exists:
            raise SystemFailure(
                "name_taken",
                f"on {self._address}: there is a folder {self._folder} already",
                "it was not touched; if a run left it, `steelyard restore` removes it",
            )
        self._made = self.context.undo.plan(host.name, RemoveTree(self._folder))
        host.make_directory(self._folder)

    def down(self) -> None:
        if self._made is not None:
            self._loops.remove_all()
            self.context.undo.apply(self.host(), self._made)
            self._made = None
        self._close()

    def reset(self, strength: Reset) -> ResetProof:
        started_ns = time.monotonic_ns()
        before = self.host().boot_id
        if strength == "boot":
            self._reboot(before)
        elif strength == "process":
            self._close()
        elif strength != "service":
            raise SystemFailure("not_supported", f"a machine of its own has no reset `{strength}`")
        host = self.host()
        host.sync_filesystem(self._folder)
        if (host.boot_id != before) != (strength == "boot"):
            message = (
                f"after the reset `{strength}` of {self._address} its boot id is {host.boot_id}"
            )
            raise SystemFailure("reset_not_proved", f"{message}; it was {before}")
        evidence = {"boot_id": host.boot_id or "not told"}
        return ResetProof(strength, time.monotonic_ns() - started_ns, evidence)

    def pipe(self, argv: Sequence[str]) -> list[str]:
        return self.host().way(argv)

    def host(self) -> Host:
        if self._host is not None and self._host.lost:
            self._close()
        if self._host is None:
            patience = self.context.host_machine().patience
            self._host = self.context.reach(self._address, patience)
        return self._host

    def folder(self) -> str:
        return self._folder

    def address(self) -> str:
        """The machine's own address of the connection: the one that it was reached under.

        Raises:
            SystemFailure: ``not_supported``: its ssh server does not name it.
        """
        if self._settings.address is not None:
            return self._settings.address
        told = tell(self.host(), ["sh", "-c", 'echo "$SSH_CONNECTION"']).split()
        if len(told) != 4:
            raise SystemFailure(
                "not_supported",
                f"{self._address} does not tell under which address it was reached",
                "give the system an `address`",
            )
        return told[2]

    def attach(self, disk: RawDisk) -> AttachedDisk:
        """A loop device over a file in the machine's ``/var/tmp``."""
        return AttachedDisk(disk, self._loops.make(disk), (f"page cache of {self._address}",))

    def detach(self, disk: AttachedDisk) -> None:
        self._loops.remove(disk.disk.name)

    def costs(self) -> Costs:
        return Costs()

    def facts(self) -> dict[str, str | None]:
        told = attempt(self.context.host_machine(), ["ssh", "-V"])
        return {"ssh.address": self._address, "ssh.version": told.stderr.strip() or None}

    def _reboot(self, before: str | None) -> None:
        """Restarts the machine and waits until it answers after another boot.

        Raises:
            SystemFailure: ``not_supported`` unless the study allows it; ``not_ready``.
        """
        if not self._settings.may_reboot:
            raise SystemFailure(
                "not_supported",
                f"{self._address} is not restarted: the system does not say `may_reboot: true`",
                "say so, or take another reset",
            )
        host = self.host()
        # The machine may go down before it answers that it will.
        with contextlib.suppress(EngineError, SystemFailure):
            attempt(host, ["sh", "-c", "sync; systemctl reboot || reboot"], timeout_s=60)
        self._close()
        self._wait_for_boot(before)

    def _wait_for_boot(self, before: str | None) -> None:
        deadline = time.monotonic() + BOOT_TIMEOUT_S
        last = "it answers, but it has not been restarted"
        while time.monotonic() < deadline:
            try:
                if self.host().boot_id != before:
                    return
            except SystemFailure as failure:
                if failure.kind not in NOT_YET:
                    raise
                last = failure.message
            except EngineError as error:
                last = error.message
            self._close()
            self.context.host_machine().patience.pause(_BETWEEN_TRIES_S)
        message = f"{self._address} has not come back in {BOOT_TIMEOUT_S:g} s: {last}"
        raise SystemFailure("not_ready", message, "look at its console")

    def _close(self) -> None:
        host, self._host = self._host, None
        if host is not None:
            with contextlib.suppress(EngineError, AgentRefusal):
                host.close()
