"""Control groups that were made for a container tool, and those that it made below."""

from __future__ import annotations

from dataclasses import dataclass

from steelyard.hosts.host import Host
from steelyard.hosts.undo.actions.cgroups import MARK
from steelyard.hosts.undo.actions.inverse import refused

_TIMEOUT_S = 30.0


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
