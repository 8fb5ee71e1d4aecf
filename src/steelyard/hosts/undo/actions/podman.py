"""Containers that were made, and names that were put on images."""

from __future__ import annotations

import json
from dataclasses import dataclass

from steelyard.engine.messages import Ran
from steelyard.hosts.host import Host
from steelyard.hosts.undo.actions.inverse import refused

ANSWER_S = 300.0
"""How long Podman may take to answer. It has locks that all its callers share: at a load of 20
on two processors it took more than 30 s to say what it is."""
_NAMED = "localhost/steelyard-"


@dataclass(frozen=True)
class RemoveContainer:
    """A container is removed with what runs in it, if it bears the mark of the run."""

    name: str
    mark: str
    kind: str = "remove_container"

    def __str__(self) -> str:
        return f"remove the container {self.name}"

    def apply(self, host: Host) -> None:
        if not _exists(host, "container", self.name):
            return
        mark = self._mark(host)
        if mark != self.mark:
            raise refused(f"the container {self.name} is not of this run: it was not touched")
        ran = _podman(host, "rm", "--force", "--time=0", "--volumes", self.name)
        if ran.exit_code != 0 and _exists(host, "container", self.name):
            raise refused(f"cannot {self}: {ran.stderr.strip()}")

    def _mark(self, host: Host) -> str | None:
        told = _podman(host, "container", "inspect", self.name)
        if told.exit_code != 0:
            raise refused(f"cannot look at the container {self.name}: {told.stderr.strip()}")
        labels = json.loads(told.stdout)[0]["Config"].get("Labels") or {}
        mark: str | None = labels.get("steelyard")
        return mark


@dataclass(frozen=True)
class RemoveImageName:
    """A name is taken off an image; one without any other name goes with it."""

    name: str
    kind: str = "remove_image_name"

    def __str__(self) -> str:
        return f"take the name {self.name} off its image"

    def apply(self, host: Host) -> None:
        if not self.name.startswith(_NAMED):
            raise refused(f"{self.name} is no name of ours: it was not touched")
        if not _exists(host, "image", self.name):
            return
        ran = _podman(host, "rmi", self.name)
        if ran.exit_code != 0 and _exists(host, "image", self.name):
            raise refused(f"cannot {self}: {ran.stderr.strip()}")


def _exists(host: Host, sort: str, name: str) -> bool:
    ran = _podman(host, sort, "exists", name)
    if ran.exit_code not in (0, 1):
        raise refused(f"Podman cannot tell whether {name} is there: {ran.stderr.strip()}")
    return ran.exit_code == 0


def _podman(host: Host, *arguments: str) -> Ran:
    return host.run(["podman", *arguments], timeout_s=ANSWER_S)
