"""The network of a run: one namespace with a bridge, where its systems and the generator meet.

Made for the run and removed after it; no interface, address, route or firewall rule of the
machine's own is touched, and no packet leaves the namespace.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class Seat:
    """A place on the bridge: what one instance is known by."""

    label: str
    address: str
    prefix_length: int
    gateway: str
    mac: str


class LabNetwork(Protocol):
    """Needs root, and ``ip`` and ``nsenter`` on the machine."""

    def up(self) -> None:
        """Makes namespace and bridge; nothing when they are there."""

    def down(self) -> None:
        """Removes all of it."""

    def enter(self, argv: Sequence[str]) -> list[str]:
        """Words that run ``argv`` inside the namespace, where the bridge can be reached."""

    def seat(self, label: str) -> Seat:
        """The same seat for the same label as long as the run lasts."""

    def tap(self, seat: Seat) -> str:
        """Name of a tap device on the bridge, for a virtual machine started with ``enter``."""

    def namespace(self, seat: Seat) -> str:
        """Path of a namespace of its own, joined to the bridge: ``eth0`` bears the address."""
