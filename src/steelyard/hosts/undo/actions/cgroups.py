"""Groups of processes that were made to limit them."""

from __future__ import annotations

import time
from dataclasses import dataclass

from steelyard.hosts.host import Host
from steelyard.hosts.undo.actions.command import run_tool
from steelyard.hosts.undo.actions.inverse import refused

MARK = "steelyard-"
_TRIES = 40
_PATIENCE_S = 0.05
"""A process that was just killed stands in its group until the kernel is done with it."""


@dataclass(frozen=True)
class RemoveCgroup:
    """A group of ours is removed; what runs in it is never killed for that."""

    path: str
    kind: str = "remove_cgroup"

    def __str__(self) -> str:
        return f"remove the cgroup {self.path}"

    def apply(self, host: Host) -> None:
        if not self.path.rpartition("/")[2].startswith(MARK):
            raise refused(f"{self.path} is no cgroup of ours")
        if not host.path_facts(self.path).exists:
            return
        for _ in range(_TRIES):
            inside = host.read_file(f"{self.path}/cgroup.procs").split()
            if not inside:
                run_tool(host, ["rmdir", self.path])
                return
            time.sleep(_PATIENCE_S)
        raise refused(f"the process {inside[0]} runs in it", "end it, then restore again")
