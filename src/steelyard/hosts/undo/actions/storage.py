"""Mounts, loop devices, arrays and signatures that were made."""

from __future__ import annotations

import json
import re
import time
from dataclasses import dataclass

from steelyard.hosts.host import Host
from steelyard.hosts.mounts import MOUNT_TABLE, mounted_at
from steelyard.hosts.undo.actions.command import TOOL_TIMEOUT_S, run_tool
from steelyard.hosts.undo.actions.inverse import refused

_GONE = " (deleted)"
_TRIES = 40
_PATIENCE_S = 0.05
"""Whoever lists disks opens each for a moment; what is detached then goes when that one closes.

So does whoever makes a mount namespace, which has a copy of each mount: a container at its start.
"""
_IN_USE = re.compile("busy|exclusive access")


@dataclass(frozen=True)
class Unmount:
    """What was mounted from ``source`` at a place is not mounted there any more."""

    mount_point: str
    source: str
    kind: str = "unmount"

    def __str__(self) -> str:
        return f"unmount {self.source} from {self.mount_point}"

    def apply(self, host: Host) -> None:
        seen = mounted_at(host.read_file(MOUNT_TABLE), self.mount_point)
        if seen is None:
            return
        if seen.source != self.source:
            raise refused(
                f"{seen.source} is mounted at {self.mount_point}, which is not ours",
                f"unmount it yourself if it has no business there: `umount {self.mount_point}`",
            )
        hint = f"end what uses it: `fuser --verbose --mount {self.mount_point}`"
        _when_free(host, ["umount", self.mount_point], hint=hint)


@dataclass(frozen=True)
class Remount:
    """A filesystem that was there before has the options again that it had."""

    mount_point: str
    source: str
    options: str
    kind: str = "remount"

    def __str__(self) -> str:
        return f"mount {self.mount_point} with {self.options} again"

    def apply(self, host: Host) -> None:
        seen = mounted_at(host.read_file(MOUNT_TABLE), self.mount_point)
        if seen is not None and seen.source == self.source:
            run_tool(host, remount_words(self.mount_point, self.options))


def remount_words(mount_point: str, options: str) -> list[str]:
    """Words that add options to those of a mount; ``/etc/fstab`` has no say in it.

    ``atime`` first, since what lifts ``noatime`` is neither ``relatime`` nor ``strictatime``.
    """
    given = ["atime,relatime" if o == "relatime" else o for o in options.split(",")]
    given = ["atime,strictatime" if o == "strictatime" else o for o in given]
    source = ["--options-source", "mtab", "--options-mode", "prepend"]
    return ["mount", *source, "-o", f"remount,{','.join(given)}", mount_point]


@dataclass(frozen=True)
class DetachLoop:
    """No loop device has this file of ours behind it any more, whatever its number is."""

    backing_file: str
    kind: str = "detach_loop"

    def __str__(self) -> str:
        return f"detach the loop device of {self.backing_file}"

    def apply(self, host: Host) -> None:
        for device in loops_of(host, self.backing_file):
            # One that was in use a moment ago may have been let go since it was listed.
            run_tool(host, ["losetup", "--detach", device], fine="No such device")
        # The kernel says yes, and detaches what is in use at its last close.
        for _ in range(_TRIES):
            left = loops_of(host, self.backing_file)
            if not left:
                return
            time.sleep(_PATIENCE_S)
        raise refused(f"{left[0]} is still in use", "unmount or stop what lies on it")


def loops_of(host: Host, backing_file: str) -> list[str]:
    """The loop devices that have this file behind them, as ``/dev/loop0``.

    One that another process is about to attach or detach has no file behind it.
    """
    listed = run_tool(host, ["losetup", "--list", "--json", "--output", "NAME,BACK-FILE"])
    devices = json.loads(listed)["loopdevices"] if listed.strip() else []
    behind = {device["name"]: device["back-file"] or "" for device in devices}
    return [name for name, file in behind.items() if file.removesuffix(_GONE) == backing_file]


@dataclass(frozen=True)
class StopArray:
    """The array with this uuid is stopped, whatever its name is."""

    uuid: str
    name: str
    kind: str = "stop_array"

    def __str__(self) -> str:
        return f"stop the array {self.name} ({self.uuid})"

    def apply(self, host: Host) -> None:
        for device in arrays_of(host, self.uuid):
            _when_free(host, ["mdadm", "--stop", device], hint="unmount what lies on it")


def arrays_of(host: Host, uuid: str) -> list[str]:
    """Running arrays with this uuid, as ``/dev/md0``."""
    listed = run_tool(host, ["mdadm", "--detail", "--scan"])
    lines = [line.split() for line in listed.splitlines() if line.startswith("ARRAY ")]
    return [words[1] for words in lines if f"UUID={uuid}" in words]


@dataclass(frozen=True)
class WipeSignatures:
    """Nothing recognises an array or a filesystem on a device of ours any more.

    A loop device is ours by its backing file, any other by its serial number. What has another
    one by now is not ours, and stays as it is.
    """

    device: str
    backing_file: str | None = None
    serial: str | None = None
    kind: str = "wipe_signatures"

    def __str__(self) -> str:
        return f"remove the signatures of arrays and filesystems from {self.device}"

    def apply(self, host: Host) -> None:
        if self._ours(host):
            words = ["wipefs", "--all", "--quiet", self.device]
            _when_free(host, words, hint="stop what uses it")

    def _ours(self, host: Host) -> bool:
        if self.backing_file is not None:
            return self.device in loops_of(host, self.backing_file)
        return self.serial is not None and serial_of(host, self.device) == self.serial


def _when_free(host: Host, argv: list[str], *, hint: str) -> None:
    """Runs a tool again, for a while, as long as it says that somebody else uses the device."""
    for _ in range(_TRIES):
        ran = host.run(argv, timeout_s=TOOL_TIMEOUT_S)
        if ran.succeeded:
            return
        if not _IN_USE.search(ran.stderr):
            break
        time.sleep(_PATIENCE_S)
    raise refused(f"`{' '.join(argv)}` {ran.how_it_ended()}", hint)


def serial_of(host: Host, device: str) -> str | None:
    """Serial number of a disk as the kernel shows it; ``None`` without one."""
    folder = f"/sys/block/{device.removeprefix('/dev/')}"
    for place in (f"{folder}/serial", f"{folder}/device/serial"):
        if host.path_facts(place).exists:
            return host.read_file(place).strip()
    page = f"{folder}/device/vpd_pg80"  # of SCSI and SATA, no text: four bytes, then the serial
    return run_tool(host, ["cat", page])[4:].strip() if host.path_facts(page).exists else None
