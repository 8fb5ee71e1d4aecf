"""Systems that were made by commands are taken down by commands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from steelyard.hosts.calls import Call, Identity, perform
from steelyard.hosts.host import Host
from steelyard.hosts.undo.actions.inverse import refused


@dataclass(frozen=True)
class TakeDown:
    """A system is ended and removed, if what bears its name is still the one that we made.

    The commands are kept with all their words: they hold whatever becomes of the platform's file.
    """

    label: str
    platform: str
    call: Mapping[str, Any]
    absent: str
    ours: str
    down: tuple[Mapping[str, Any], ...]
    clean: tuple[Mapping[str, Any], ...] = ()
    kind: str = "take_down"

    def __str__(self) -> str:
        return f"take down {self.label} ({self.platform})"

    def apply(self, host: Host) -> None:
        identity = Identity(_call(self.call), self.absent, self.ours)
        present = identity.look(host)
        if present == "ours":
            for step in self.down:
                perform(host, _call(step))
            if identity.look(host) == "ours":
                hint = f"look why with the tool of {self.platform}"
                raise refused(f"{self.label} is still there after it was taken down", hint)
        if present != "foreign":
            for step in self.clean:
                perform(host, _call(step))


def _call(fields: Mapping[str, Any]) -> Call:
    return Call(**{**fields, "argv": tuple(fields["argv"])})
