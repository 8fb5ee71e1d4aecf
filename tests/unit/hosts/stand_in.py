"""A machine that is not there: files in a dictionary, tools that answer what a test says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, cast

from steelyard.engine.agent import AgentRefusal
from steelyard.engine.messages import Failure, PathFacts, Ran
from steelyard.hosts.host import Host

MOUNT_TABLE = "/proc/self/mountinfo"


def said(exit_code: int = 0, *, stdout: str = "", stderr: str = "") -> Ran:
    """What a tool did, as the agent reports it."""
    return Ran(
        exit_code=exit_code,
        signal=None,
        stdout=stdout,
        stderr=stderr,
        stdout_truncated=False,
        stderr_truncated=False,
        timed_out=False,
        cancelled=False,
        started_monotonic_ns=0,
        ended_monotonic_ns=1,
        user_ns=0,
        system_ns=0,
        max_rss_bytes=0,
    )


Tool = Callable[[list[str]], Ran]


@dataclass(eq=False)
class Machine:
    """Does what it is asked to its own files, and notes everything that changes something."""

    name: str = "local"
    boot_id: str | None = "boot-1"
    network: str | None = None
    files: dict[str, str] = field(default_factory=lambda: {MOUNT_TABLE: ""})
    tools: dict[str, Tool] = field(default_factory=dict)
    changes: list[tuple[Any, ...]] = field(default_factory=list)
    refuses: set[str] = field(default_factory=set)

    def host(self) -> Host:
        return cast("Host", self)

    def read_file(self, path: str) -> str:
        if path not in self.files:
            raise refusal("read_file", "not_found", f"cannot read {path}: No such file")
        return self.files[path]

    def write_file(self, path: str, content: str, *, create: bool = False, **_more: Any) -> None:
        if path in self.refuses or (path not in self.files and not create):
            raise refusal("write_file", "system", f"cannot write {path}: Invalid argument")
        self.changes.append(("write", path, content))
        self.files[path] = content

    def path_facts(self, path: str) -> PathFacts:
        there = path in self.files or any(name.startswith(path + "/") for name in self.files)
        return PathFacts(
            device=None,
            filesystem="ext4",
            options="rw",
            free_bytes=2**30,
            exists=there,
            path_kind="file" if there else None,
            size_bytes=None,
            mode=0o644 if there else None,
        )

    def make_directory(self, path: str) -> None:
        self.changes.append(("make", path))

    def remove_tree(self, path: str) -> None:
        if path in self.refuses:
            raise refusal("remove_tree", "permission_denied", f"cannot remove {path}: no rights")
        self.changes.append(("remove", path))

    def kill_stale(self, pid: int, start_ticks: int) -> None:
        self.changes.append(("kill", pid, start_ticks))

    def run(self, argv: list[str], **_more: Any) -> Ran:
        self.changes.append(("run", *argv))
        for tool, answer in self.tools.items():
            if " ".join(argv).startswith(tool):
                return answer(argv)
        return said()


def refusal(verb: str, kind: str, message: str) -> AgentRefusal:
    return AgentRefusal(verb, Failure(kind=kind, message=message))


def runs(machine: Machine) -> list[str]:
    """The tools that were run, as one would type them."""
    return [" ".join(words[1:]) for words in machine.changes if words[0] == "run"]
