"""A machine as it would stand: as it is, and over that what the steps so far would have made."""

from __future__ import annotations

import json
import posixpath
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from steelyard.engine.agent import AgentRefusal
from steelyard.engine.messages import Failure
from steelyard.hosts.mounts import MOUNT_TABLE
from steelyard.study.declared.machine import filesystems
from steelyard.trial.rehearsal.looks import Looks

_UNKNOWN: dict[str, str] = {
    "/proc/self/mounts": "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n",
    MOUNT_TABLE: (
        "1 0 0:1 / / rw - ext4 /dev/vda rw\n2 1 0:2 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"
    ),
    "/proc/stat": "cpu 1 0 1 8 0 0 0 0 0 0\n",
}
"""Of a machine that is not there yet."""
_BY_END = {
    "cgroup.subtree_control": "cpu cpuset io memory pids",
    "/stat": "1 (agent) S " + "1 " * 30,
    "/cgroup": "0::/\n",
}
_LOOPS = 64
_LABEL = "--label=steelyard="


@dataclass
class Ground:
    """``real`` answers what is there now; ``None`` for a system that is not up yet."""

    name: str
    real: Looks | None = None
    files: dict[str, str] = field(default_factory=dict)
    folders: set[str] = field(default_factory=set)
    gone: set[str] = field(default_factory=set)
    mounts: list[tuple[str, str, str]] = field(default_factory=list)
    """What is mounted: filesystem, source, place."""
    loops: dict[str, str] = field(default_factory=dict)
    """The file behind each loop device."""
    arrays: dict[str, str] = field(default_factory=dict)
    """The uuid of each array."""
    overlays: dict[str, str] = field(default_factory=dict)
    """The file below each image of a disk."""
    containers: dict[str, str] = field(default_factory=dict)
    """The mark of each container of Podman."""
    images: set[str] = field(default_factory=set)
    """Names that images of Podman were given."""

    def exists(self, path: str) -> bool | None:
        """Whether the steps so far made it, or removed it; ``None``: they did neither."""
        if path in self.files or path in self.folders:
            return True
        parents = [path, *_parents(path)]
        return False if any(each in self.gone for each in parents) else None

    def facts_of(self, path: str) -> dict[str, Any]:
        """As the agent answers ``path``."""
        made = self.exists(path)
        if self.real is None:
            there = _likely(path) if made is None else made
            return _facts(there, "folder" if path in self.folders else "file")
        place = path
        while made is not None and place not in ("/", ""):  # what lies above is there
            place = posixpath.dirname(place)
            if self.exists(place) is None:
                break
        found: dict[str, Any] = self.real.ask("path", path=place)
        if made is None:
            return found
        return found | {"exists": made, "path_kind": "folder" if path in self.folders else "file"}

    def read(self, path: str) -> str:
        """The content of a file.

        Raises:
            AgentRefusal: there is none.
        """
        if path in self.files:
            return self.files[path]
        if self.real is None:
            return self._read_unknown(path)
        if path.endswith("cgroup.procs") and self.exists(posixpath.dirname(path)):
            return ""
        told: str = self.real.ask("read_file", path=path)["content"]
        return told + self._mount_lines() if path == MOUNT_TABLE else told

    def _read_unknown(self, path: str) -> str:
        """What is likely of a machine that is not up yet; a value of the kernel has none."""
        known = _UNKNOWN | {
            MOUNT_TABLE: _UNKNOWN[MOUNT_TABLE] + self._mount_lines(),
            "/proc/filesystems": " ".join(filesystems()),
        }
        ends = (text for end, text in _BY_END.items() if path.endswith(end))
        text = known.get(path, next(ends, None))
        if text is None and not path.startswith(("/proc/", "/sys/")):
            failure = Failure(kind="not_found", message=f"{path} is not there yet")
            raise AgentRefusal("read_file", failure)
        return text or ""

    def write(self, path: str, content: str) -> str | None:
        """Keeps it; what a value of the kernel was before, if it is known."""
        before = None
        if path.startswith(("/proc/", "/sys/")):
            try:
                before = self.read(path)
            except AgentRefusal:
                before = None
        self.files[path] = content
        return before

    def make_folder(self, path: str) -> bool:
        """Whether it has to be made."""
        if self.facts_of(path)["exists"]:
            return False
        missing = {path, *(each for each in _parents(path) if not self.facts_of(each)["exists"])}
        self.folders |= missing
        self.gone -= missing
        return True

    def remove(self, path: str) -> bool:
        """Whether there is anything to remove."""
        there = bool(self.facts_of(path)["exists"])
        below = f"{path}/"
        self.files = {p: c for p, c in self.files.items() if p != path and not p.startswith(below)}
        self.folders = {p for p in self.folders if p != path and not p.startswith(below)}
        self.gone.add(path)
        return there

    def free_loop(self) -> str:
        """The loop device that the kernel would give now, as far as that can be known."""
        for number in range(_LOOPS):
            device = f"/dev/loop{number}"
            behind = f"/sys/block/loop{number}/loop/backing_file"
            taken = self.real is not None and self.real.ask("path", path=behind)["exists"]
            if device not in self.loops and not taken:
                return device
        return f"/dev/loop{_LOOPS + len(self.loops)}"

    def attach_loop(self, device: str, file: str) -> None:
        self.loops[device] = file
        self.files[f"/sys/block/{device.removeprefix('/dev/')}/loop/backing_file"] = file

    def detach_loop(self, device: str) -> None:
        self.loops.pop(device, None)
        self.files.pop(f"/sys/block/{device.removeprefix('/dev/')}/loop/backing_file", None)

    def start_container(self, argv: Sequence[str]) -> None:
        """Notes a container by the words that start it."""
        words = dict(word.split("=", 1) for word in argv if "=" in word)
        if "--name" in words:
            mark = next(word for word in argv if word.startswith(_LABEL))
            self.containers[words["--name"]] = mark.removeprefix(_LABEL)

    def listed_loops(self) -> str:
        """As ``losetup --list --json``."""
        rows = [{"name": name, "back-file": file} for name, file in self.loops.items()]
        return json.dumps({"loopdevices": rows})

    def _mount_lines(self) -> str:
        return "".join(
            f"9 1 0:9 / {place.replace(' ', chr(92) + '040')} rw - {filesystem} {source} rw\n"
            for filesystem, source, place in self.mounts
        )


def _likely(path: str) -> bool:
    """Of a machine that is not up yet: it has every value of the kernel, and nothing of ours."""
    ours = "steelyard-" in path or path.startswith("/sys/module/")
    return path.startswith(("/proc/", "/sys/")) and not ours


def _parents(path: str) -> list[str]:
    found = []
    while path not in ("/", ""):
        path = posixpath.dirname(path)
        found.append(path)
    return found[:-1]


def _facts(exists: bool, kind: str) -> dict[str, Any]:
    return {
        "device": None,
        "filesystem": None,
        "options": None,
        "free_bytes": None,
        "exists": exists,
        "path_kind": kind if exists else None,
        "size_bytes": None,
        "mode": None,
    }
