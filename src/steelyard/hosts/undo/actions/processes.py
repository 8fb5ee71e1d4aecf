"""Processes that were started, and the control groups that were made to limit them."""

from __future__ import annotations

import time
from dataclasses import dataclass

from steelyard.hosts.host import Host
from steelyard.hosts.undo.actions.command import run_tool
from steelyard.hosts.undo.actions.inverse import refused

AGENT = "agent"
MARK = "steelyard-"
_TRIES = 40
_POLL_S = 0.05
"""A process that was just killed stands in its group until the kernel is done with it."""
_TIMEOUT_S = 30.0


@dataclass(frozen=True)
class EndProcess:
    """A process that was started is ended, if it is still the same one.

    ``start_ticks`` is its start in clock ticks since boot: with the pid it names one process.
    """

    pid: int
    start_ticks: int
    what: str = AGENT
    kind: str = "end_process"

    def __str__(self) -> str:
        return f"end the {self.what} with process id {self.pid}"

    def apply(self, host: Host) -> None:
        host.kill_stale(self.pid, self.start_ticks)


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
            time.sleep(_POLL_S)
        raise refused(f"the process {inside[0]} runs in it", "end it, then restore again")


@dataclass(frozen=True)
class RemoveCgroupTree:
    """A group of ours is removed with the groups below it; what runs in one is never killed."""

    path: str
    kind: str = "remove_cgroup_tree"

    def __str__(self) -> str:
        return f"remove the cgroup {self.path} and those below it"

    def apply(self, host: Host) -> None:
        if not self.path.rpartition("/")[2].startswith(MARK):
            raise refused(f"{self.path} is no cgroup of ours")
        if not host.path_facts(self.path).exists:
            return
        argv = ["find", self.path, "-depth", "-type", "d", "-exec", "rmdir", "{}", ";"]
        ran = host.run(argv, timeout_s=_TIMEOUT_S)
        if host.path_facts(self.path).exists:
            raise refused(f"cannot {self}: {ran.stderr.strip()}", "end what runs there")
