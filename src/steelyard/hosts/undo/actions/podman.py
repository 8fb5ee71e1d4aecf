"""Containers that were made, and names that were put on images."""

from __future__ import annotations

import json
from dataclasses import dataclass
from threading import Lock

from steelyard.engine.messages import Ran
from steelyard.hosts.host import Host
from steelyard.hosts.undo.actions.inverse import refused

ANSWER_S = 300.0
"""How long Podman may take to answer. It has locks that all its callers share: at a load of 20
on two processors it took more than 30 s to say what it is."""
NAMING = Lock()
"""Held by who puts a name on an image or takes one off. Podman 4.3 reads all names of an image and
writes them again: of two calls at a time, one loses what the other did. Runs share no image that
they import."""
_NAMED = "localhost/steelyard-"
_OURS = "steelyard-"
_END_FORGOTTEN = r"""
for process in /proc/[0-9]*; do
  [ "$(cat "$process/comm" 2>/dev/null)" = conmon ] || continue
  name= id= runtime= before=
  while read -r word; do
    case $before in -n) name=$word ;; -c) id=$word ;; -r) runtime=$word ;; esac
    before=$word
  done <<WORDS
$(tr '\0' '\n' <"$process/cmdline" 2>/dev/null)
WORDS
  [ "$name" = "$1" ] && [ -n "$id" ] && [ -n "$runtime" ] || continue
  "$runtime" delete --force "$id"
  kill -9 "${process#/proc/}" 2>/dev/null
done
true
"""
"""A start that was cut short between making a container and starting it leaves one that Podman does
not know and its runtime does, with its monitor: that one still names it."""


@dataclass(frozen=True)
class RemoveContainer:
    """A container is removed with what runs in it, if it bears the mark of the run."""

    name: str
    mark: str
    kind: str = "remove_container"

    def __str__(self) -> str:
        return f"remove the container {self.name}"

    def apply(self, host: Host) -> None:
        marks = self._marks(host)
        if not marks:
            self._end_forgotten(host)
            return
        if marks != [self.mark]:
            raise refused(f"the container {self.name} is not of this run: it was not touched")
        ran = _podman(host, "rm", "--force", "--time=0", "--volumes", self.name)
        if ran.exit_code != 0 and self._marks(host):
            raise refused(f"cannot {self}: {ran.stderr.strip()}")
        self._end_forgotten(host)

    def _end_forgotten(self, host: Host) -> None:
        if self.name.startswith(_OURS):
            ran = host.run(["sh", "-c", _END_FORGOTTEN, "sh", self.name], timeout_s=ANSWER_S)
            if ran.exit_code != 0:
                raise refused(f"cannot {self}: {ran.stderr.strip()}")

    def _marks(self, host: Host) -> list[str | None]:
        """The mark of the container; nothing where there is none.

        Asked of the list: ``inspect`` does not know a container whose removal was cut short, and
        such a one still holds its name and its image.
        """
        listed = _podman(host, "ps", "--all", "--filter", f"name=^{self.name}$", "--format", "json")
        if listed.exit_code != 0:
            raise refused(f"cannot look at the container {self.name}: {listed.stderr.strip()}")
        return [(each["Labels"] or {}).get("steelyard") for each in json.loads(listed.stdout) or []]


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
        with NAMING:
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
