"""A memory snapshot: what a booted guest was at one instant, restored before each trial.

The disk of that instant is what lies below every later overlay; the memory is a file that QEMU
reads when it starts. Both stay with the instance; nothing of them is kept for another run.
"""

from __future__ import annotations

from dataclasses import dataclass

from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.host import Host
from steelyard.hosts.tool import tell
from steelyard.systems.qemu.command_line import OVERLAY, Machine
from steelyard.systems.qemu.overlays import Backing, backing
from steelyard.systems.qemu.running import RunningMachine

DISK, STATE = "snapshot.qcow2", "snapshot.state"
SAVE_TIMEOUT_S = 300.0
RESTORE_TIMEOUT_S = 120.0
_BANDWIDTH_BYTES_PER_S = 10**11


@dataclass(frozen=True)
class Snapshot:
    """Made of ``machine`` in the boot ``boot_id``; a machine of another shape needs another."""

    machine: Machine
    disk: Backing
    boot_id: str | None
    state_bytes: int

    def restored(self) -> Machine:
        """The machine that starts from it."""
        return self.machine.restored_from(STATE)


def take(running: RunningMachine, boot_id: str | None) -> Snapshot:
    """Stops the machine for good and keeps what it was; no agent may be joined to it.

    Raises:
        SystemFailure: QEMU cannot write it: ``no_space``, ``tool_failed``, ``timed_out``.
    """
    qmp, machine, host_machine = running.qmp(), running.machine, running.host_machine
    qmp.execute("stop")
    qmp.execute("migrate-set-parameters", {"max-bandwidth": _BANDWIDTH_BYTES_PER_S})
    qmp.execute("migrate", {"uri": f"exec:cat > {STATE}"})
    ended = qmp.poll("query-migrate", _has_ended, timeout_s=SAVE_TIMEOUT_S)
    if ended["status"] != "completed":
        _explain(host_machine, machine, ended)
    running.end()
    folder = machine.folder
    tell(host_machine, ["mv", f"{folder}/{OVERLAY}", f"{folder}/{DISK}"])
    state_bytes = host_machine.path_facts(f"{folder}/{STATE}").size_bytes
    if not state_bytes:
        raise SystemFailure("tool_failed", f"QEMU has written no snapshot of {machine.label}")
    return Snapshot(machine, backing(host_machine, f"{folder}/{DISK}"), boot_id, state_bytes)


def wake(running: RunningMachine) -> None:
    """Lets a machine that has started from a snapshot run on.

    Raises:
        SystemFailure: the memory could not be read.
    """
    qmp = running.qmp()
    status = qmp.poll("query-status", _has_arrived, timeout_s=RESTORE_TIMEOUT_S)["status"]
    if status != "paused":
        message = f"the snapshot of {running.machine.label} could not be restored: {status}"
        raise SystemFailure("tool_failed", message, last_words=running.console())
    qmp.execute("cont")


def set_clock(host: Host, host_machine: Host) -> None:
    """Tells the guest what time it is: its own clock stood still in the snapshot."""
    clock = host_machine.clock().realtime_ns
    tell(host, ["date", "--utc", "--set", f"@{clock // 10**9}.{clock % 10**9:09d}"])


def _has_ended(answer: dict[str, object]) -> bool:
    return answer.get("status") in ("completed", "failed", "cancelled")


def _has_arrived(answer: dict[str, object]) -> bool:
    return answer["status"] not in ("inmigrate", "prelaunch")


def _explain(host_machine: Host, machine: Machine, ended: dict[str, object]) -> None:
    free_bytes = host_machine.path_facts(machine.folder).free_bytes
    said = ended.get("error-desc", ended["status"])
    message = f"the memory of {machine.label} could not be saved: {said}"
    if free_bytes is not None and free_bytes < machine.memory_bytes:
        raise SystemFailure("no_space", f"{message}; {free_bytes} bytes are free")
    raise SystemFailure("tool_failed", message)
