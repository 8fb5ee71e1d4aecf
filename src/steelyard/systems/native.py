"""The machine itself, without a layer between.

Reset is a fresh process, an empty folder, and a disk that has written all that the trial before
left to it: as strong as ``reset: service`` says, and no stronger. Page cache, disk layout and
everything else of the machine carry over; the random order of visits is what keeps that from
favouring a system.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from steelyard.hosts.host import Host
from steelyard.study.model import Reset
from steelyard.systems.failures import SystemFailure
from steelyard.systems.platform import AttachedDisk, Costs, Ground, RawDisk, ResetProof


class Native:
    """A system on the machine that carries it."""

    def __init__(self, ground: Ground) -> None:
        self.ground = ground

    def up(self) -> None:
        """Nothing has to be made."""
        self.ground.carrier()

    def down(self) -> None:
        """Nothing was made."""

    def reset(self, strength: Reset) -> ResetProof:
        """The disk has written what waited for it."""
        started_ns = time.monotonic_ns()
        host = self.host()
        host.sync_filesystem(self.ground.folder)
        evidence = {"boot_id": host.boot_id or "not told"}
        return ResetProof(strength, time.monotonic_ns() - started_ns, evidence)

    def pipe(self, argv: Sequence[str]) -> list[str]:
        return self.host().way(argv)

    def host(self) -> Host:
        return self.ground.carrier()

    def folder(self) -> str:
        return self.ground.folder

    def address(self) -> str:
        return "127.0.0.1"

    def attach(self, disk: RawDisk) -> AttachedDisk:
        raise SystemFailure(
            "not_supported",
            f"native systems cannot attach the disk {disk.name} yet",
            "leave `disks` out",
        )

    def detach(self, disk: AttachedDisk) -> None:
        """Nothing was attached."""

    def costs(self) -> Costs:
        return Costs()

    def facts(self) -> dict[str, str | None]:
        return {}
