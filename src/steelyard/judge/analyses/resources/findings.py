"""What is found of one resource in one cell, over the time of its trials."""

from __future__ import annotations

from typing import Literal

from steelyard.plan.model import Cell, Frozen

ResourceName = Literal[
    "answers",
    "service_cpu",
    "system_cpu",
    "host_cpu",
    "generator_cpu",
    "disk_write",
    "disk_flush",
    "service_memory",
    "memory_dirty",
    "steal",
    "io_pressure",
]


class ResourceFinding(Frozen):
    """A resource by the time from the start of the window: one column of figures each.

    ``median`` and ``low..high`` (the tenth and the ninetieth of a hundred) are over trials, of the
    mean of each in equal intervals whose middles are ``at_s``; intervals that fewer than half of
    the trials reach are left out. The window ends at ``window_s`` (its median). ``limit`` is what
    the machine has of it, ``None`` where that is not known or there is no such limit. ``refused``
    counts readings more than a tenth above the limit, which cannot be: they are in no figure.
    ``answers`` are those of the load, in studies with events.
    """

    cell: Cell
    resource: ResourceName
    unit: str
    limit: float | None
    trials: int
    refused: int
    window_s: float
    at_s: tuple[float, ...]
    median: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
