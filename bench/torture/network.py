"""A network namespace for each case: what a study sets of the network is then its own.

A process that sleeps holds it open, so that settings outlive the controllers of the case.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
from pathlib import Path

_HELD = "ip link set lo up && echo up && exec sleep 3600"
_ENTER_NETWORK = 0x40000000


class OwnNetwork:
    """As root; elsewhere the machine's own."""

    def __init__(self) -> None:
        self._holder: subprocess.Popen[str] | None = None
        if os.geteuid() == 0 and shutil.which("unshare") and shutil.which("ip"):
            argv = ["unshare", "--net", "sh", "-c", _HELD]
            self._holder = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)
            assert self._holder.stdout is not None
            self._holder.stdout.readline()

    @property
    def path(self) -> str | None:
        """Who opens it can enter it."""
        return None if self._holder is None else f"/proc/{self._holder.pid}/ns/net"

    def parameter(self, name: str) -> str:
        """A value below ``/proc/sys/net`` as it is there."""
        if self.path is None:
            return Path("/proc/sys/net", name).read_text(encoding="ascii").strip()
        argv = ["nsenter", f"--net={self.path}", "cat", f"/proc/sys/net/{name}"]
        return subprocess.run(argv, check=True, capture_output=True, text=True).stdout.strip()

    def close(self) -> None:
        """The namespace goes with the last process in it."""
        if self._holder is not None:
            self._holder.kill()
            self._holder.communicate()


def enter(path: str) -> None:
    """The calling process, and what it starts."""
    with Path(path).open("rb") as space:
        if ctypes.CDLL(None, use_errno=True).setns(space.fileno(), _ENTER_NETWORK) != 0:
            raise OSError(ctypes.get_errno(), f"cannot enter {path}")
