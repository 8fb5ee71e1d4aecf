"""A machine that is not there: files in a dictionary, tools that answer what a test says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, cast

from steelyard.engine.agent import AgentRefusal
from steelyard.engine.messages import Failure, PathFacts
from steelyard.hosts.host import Host

MOUNT_TABLE = "/proc/self/mountinfo"


@dataclass
class Said:
    """What a tool did, as the agent tells it."""

    exit_code: int | None = 0
    stdout: str = ""
    stderr: str = ""
    timed_out: bool = False
    signal: int | None = None


Tool = Callable[[list[str]], Said]


@dataclass
class Machine:
    """Does what it is asked to its own files, and notes everything that changes something."""

    name: str = "local"
    boot_id: str | None = "boot-1"
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
        facts = {"device": None, "filesystem": "ext4", "options": "rw", "free_bytes": 2**30}
        return PathFacts.model_validate({**facts, "exists": there, "kind": "file", "mode": 0o644})

    def make_directory(self, path: str) -> None:
        self.changes.append(("make", path))

    def remove_tree(self, path: str) -> None:
        if path in self.refuses:
            raise refusal("remove_tree", "permission_denied", f"cannot remove {path}: no rights")
        self.changes.append(("remove", path))

    def kill_stale(self, pid: int, start_ticks: int) -> None:
        self.changes.append(("kill", pid, start_ticks))

    def run(self, argv: list[str], **_more: Any) -> Said:
        self.changes.append(("run", *argv))
        for tool, answer in self.tools.items():
            if " ".join(argv).startswith(tool):
                return answer(argv)
        return Said()


def refusal(verb: str, kind: str, message: str) -> AgentRefusal:
    return AgentRefusal(verb, Failure(kind=kind, message=message))


def runs(machine: Machine) -> list[str]:
    """The tools that were run, as one would type them."""
    return [" ".join(words[1:]) for words in machine.changes if words[0] == "run"]
