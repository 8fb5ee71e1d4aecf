"""What every kind of place must be able to do, and the table of those that exist.

A platform is little more than a way to open a pipe to an agent. Guarantees on the order of
calls: ``up`` once before the first trial and again after :meth:`lost`; ``reset`` before each
trial, never while a service runs; ``down`` at the end, also after a failure.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from steelyard.hosts.host import Host
from steelyard.study.model import SystemSpec
from steelyard.systems.native import Native


class Platform(Protocol):
    """One place that a system lives on."""

    def up(self) -> Host:
        """The machine, reachable.

        Raises:
            EngineError, HostError: it cannot be reached; the message says what to do.
        """

    def reset(self, folder: str) -> None:
        """Makes an empty ``folder`` for the trial, and whatever else the declared reset asks."""

    def clear(self, folder: str) -> None:
        """Removes what :meth:`reset` and the service left."""


PLATFORMS: dict[str, Callable[[SystemSpec, Callable[[], Host]], Platform]] = {
    "native": Native,
}
