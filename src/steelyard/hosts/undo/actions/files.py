"""Folders that were made, files that were written, values that were set."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from steelyard.hosts.host import Host
from steelyard.hosts.kernel_values import same, shown
from steelyard.hosts.mounts import MOUNT_TABLE, mounts_below
from steelyard.hosts.networks import network_of, within
from steelyard.hosts.undo.actions.command import run_tool
from steelyard.hosts.undo.actions.inverse import refused

_KERNEL_VALUES = ("/proc/sys/", "/sys/")


@dataclass(frozen=True)
class RemoveTree:
    """A folder that was made is removed with all below it, unless something is mounted there."""

    path: str
    kind: str = "remove_tree"

    def __str__(self) -> str:
        return f"remove the folder {self.path}"

    def apply(self, host: Host) -> None:
        mounts = mounts_below(host.read_file(MOUNT_TABLE), self.path)
        if mounts:
            raise refused(
                f"{mounts[0].source} is mounted at {mounts[0].mount_point}",
                f"end what uses it, then `umount {mounts[0].mount_point}`",
            )
        host.remove_tree(self.path)


def sha256_of(content: str) -> str:
    """What a file is recognised by."""
    return hashlib.sha256(content.encode()).hexdigest()


@dataclass(frozen=True)
class RestoreFile:
    """A file that was written holds its former content again, or is removed if there was none.

    ``ours_sha256`` is that of the content that was written: whoever changed the file since then
    shall not lose it.
    """

    path: str
    content: str | None
    mode: int | None
    ours_sha256: str
    kind: str = "restore_file"

    def __str__(self) -> str:
        if self.content is None:
            return f"remove the file {self.path}"
        return f"give the file {self.path} its former content"

    def apply(self, host: Host) -> None:
        present = host.read_file(self.path) if host.path_facts(self.path).exists else None
        if present == self.content:
            return
        if present is None or sha256_of(present) != self.ours_sha256:
            raise refused(
                f"{self.path} was changed by somebody else since",
                "compare it with what the ledger of the run says it held, and fix it by hand",
            )
        if self.content is None:
            run_tool(host, ["rm", "-f", "--", self.path])
        else:
            host.write_file(self.path, self.content, mode=self.mode, durable=True)


def value_inverse(host: Host, path: str, value: str, ours: str | None = None) -> WriteValue:
    """What gives a value of the kernel back to whom it belongs."""
    return WriteValue(path, value, host.boot_id, network_of(host, path), ours=ours)


@dataclass(frozen=True)
class WriteValue:
    """A value of the kernel below ``/proc/sys`` or ``/sys`` is as it was.

    With the machine's ``boot_id``, a boot since then has taken it back already. What has gone with
    its device needs nothing, nor what has gone with ``network``: the path of the network namespace
    of the run's own in which the value was written. ``ours`` is what was written, where a value
    that somebody else has written since then shall stay.
    """

    path: str
    value: str
    boot_id: str | None = None
    network: str | None = None
    kind: str = "write_value"
    ours: str | None = None

    def __str__(self) -> str:
        return f"write {self.value!r} to {self.path} again"

    def apply(self, host: Host) -> None:
        if not self.path.startswith(_KERNEL_VALUES):
            raise refused(f"{self.path} is no value of the kernel")
        if self.boot_id is not None and host.boot_id not in (None, self.boot_id):
            return
        if self.network is None:
            self._write(host)
        elif host.path_facts(self.network).exists:
            with within(host, self.network) as inside:
                self._write(inside)

    def _write(self, host: Host) -> None:
        if not host.path_facts(self.path).exists:
            return
        self._refuse_foreign(host)
        host.write_file(self.path, self.value)
        now = host.read_file(self.path)
        if not same(now, self.value):
            raise refused(f"after {self.value!r} was written, the kernel shows {shown(now)!r}")

    def _refuse_foreign(self, host: Host) -> None:
        if self.ours is None:
            return
        now = host.read_file(self.path)
        if not (same(now, self.ours) or same(now, self.value)):
            raise refused(
                f"somebody else has written {shown(now)!r} there since, and it stays",
                f"write {self.value!r} there yourself if it shall be as before",
            )
