"""Podman on the machine that carries the containers: its words, and what it says of itself."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from steelyard.engine.messages import Ran
from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.host import Host
from steelyard.hosts.tool import attempt, failed, tell
from steelyard.hosts.undo.actions.podman import ANSWER_S

_MOST_PROCESSES = 32768
"""Podman lowers its own limit to this, so that a container cannot have more."""
_NO_SUCH = ("no such container", "no such object", "no container with name or id")


@dataclass(frozen=True)
class Info:
    """What ``podman info`` says; ``runtime`` is its default."""

    version: str
    runtime: str
    cgroup_version: str
    storage_driver: str
    rootless: bool


@dataclass(frozen=True)
class Container:
    """A container as ``podman inspect`` has it. ``pid`` is 0 where none runs."""

    id: str
    pid: int
    running: bool
    started_at: str
    mark: str | None
    image_id: str
    image_digest: str
    exit_code: int


class Tool:
    """Podman's words on one machine. ``runtime`` is ``auto``, ``runc`` or ``crun``."""

    def __init__(self, host_machine: Callable[[], Host], runtime: str = "auto") -> None:
        self.host_machine = host_machine
        self._wanted = runtime
        self._info: Info | None = None
        self._runtime: str | None = None
        self._limits: dict[str, int] | None = None

    @property
    def info(self) -> Info:
        """What Podman says of itself, asked once."""
        if self._info is None:
            told = self.tell("info", "--format", "json")
            self._info = read_info(json.loads(told))
        return self._info

    @property
    def runtime(self) -> str:
        """The OCI runtime that containers are run with.

        Where cgroup 1 and 2 are mounted side by side crun refuses; there runc is taken if it is
        installed, unless the study names one.
        """
        if self._runtime is None:
            self._runtime = self._wanted if self._wanted != "auto" else self._chosen_runtime()
        return self._runtime

    @property
    def limits(self) -> dict[str, int]:
        """The hard limits of this machine's agent: a container can be given no more than those."""
        if self._limits is None:
            told = tell(self.host_machine(), ["cat", "/proc/self/limits"])
            self._limits = read_limits(told)
        return self._limits

    def words(self, *arguments: str) -> list[str]:
        """Podman's words with the runtime, for a container to be made."""
        return ["podman", "--runtime", self.runtime, *arguments]

    def tell(self, *arguments: str, timeout_s: float = ANSWER_S) -> str:
        """What Podman says.

        Raises:
            SystemFailure: it could not be run, or failed.
        """
        return tell(self.host_machine(), ["podman", *arguments], timeout_s=timeout_s)

    def succeeds(self, *arguments: str) -> bool:
        """Whether Podman ends with code 0."""
        return self._attempt(*arguments).exit_code == 0

    def container(self, name: str) -> Container | None:
        """The container of this name; ``None`` if there is none."""
        argv = ("container", "inspect", name)
        ran = self._attempt(*argv)
        if ran.exit_code == 0:
            return read_container(json.loads(ran.stdout)[0])
        if any(words in ran.stderr.lower() for words in _NO_SUCH):
            return None
        raise failed(self.host_machine(), ["podman", *argv], ran)

    def _attempt(self, *arguments: str) -> Ran:
        return attempt(self.host_machine(), ["podman", *arguments], timeout_s=ANSWER_S)

    def _chosen_runtime(self) -> str:
        info = self.info
        if info.runtime == "crun" and info.cgroup_version == "v1" and self._runs("runc"):
            return "runc"
        return info.runtime

    def _runs(self, runtime: str) -> bool:
        try:
            return attempt(self.host_machine(), [runtime, "--version"]).exit_code == 0
        except SystemFailure:
            return False


def read_info(document: dict[str, Any]) -> Info:
    """The answer of ``podman info --format json``."""
    host = document["host"]
    return Info(
        version=document["version"]["Version"],
        runtime=host["ociRuntime"]["name"],
        cgroup_version=host["cgroupVersion"],
        storage_driver=document["store"]["graphDriverName"],
        rootless=host["security"]["rootless"],
    )


def read_container(document: dict[str, Any]) -> Container:
    """One element of the answer of ``podman container inspect``."""
    state = document["State"]
    labels = document["Config"].get("Labels") or {}
    return Container(
        id=document["Id"],
        pid=state["Pid"],
        running=state["Running"],
        started_at=state["StartedAt"],
        mark=labels.get("steelyard"),
        image_id=document["Image"],
        image_digest=document.get("ImageDigest", ""),
        exit_code=state["ExitCode"],
    )


def read_limits(told: str) -> dict[str, int]:
    """Hard limits as ``--ulimit`` takes them, from ``/proc/PID/limits``; none where unlimited."""
    limits: dict[str, int] = {}
    for line in told.splitlines():
        if line.startswith("Max open files"):
            _keep(limits, "nofile", line.split()[4])
        elif line.startswith("Max processes"):
            _keep(limits, "nproc", line.split()[3])
    if "nproc" in limits:
        limits["nproc"] = min(limits["nproc"], _MOST_PROCESSES)
    return limits


def _keep(limits: dict[str, int], name: str, hard: str) -> None:
    if hard.isdigit():
        limits[name] = int(hard)
