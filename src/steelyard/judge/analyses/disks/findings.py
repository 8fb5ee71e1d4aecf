"""What is said of the disks of a system."""

from __future__ import annotations

from steelyard.plan.model import Frozen
from steelyard.records.disk_checks import Damage


class DamagedDisk(Frozen):
    """One disk that was found damaged after an attempt; ``trial`` is ``None`` where the system
    stayed up and its disks were checked when it was taken down.
    """

    trial: int | None
    attempt: int | None
    instance: int
    disk: str
    device: str
    damage: tuple[Damage, ...]


class DiskFinding(Frozen):
    """The checks of the disks of one system; ``unchecked`` of them brought nothing to its end."""

    system: str
    checks: int
    unchecked: int
    damaged: tuple[DamagedDisk, ...] = ()
