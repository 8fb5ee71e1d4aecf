"""Trials that end by a number of operations instead of by the clock."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from steelyard.study.model import WorkloadSpec

PER_USER = "messages"
TOGETHER = "requests"
TOTAL = "total"
COUNTS = (PER_USER, TOGETHER, TOTAL)
"""Settings of workloads that say after how much a trial ends."""


@dataclass(frozen=True)
class Counted:
    """How many operations a trial has; exactly one is set."""

    operations: int | None = None
    operations_per_user: int | None = None


def counted(settings: Mapping[str, Any]) -> Counted | None:
    """After how many operations a trial of these settings ends; ``None``: the clock ends it.

    ``total`` bytes are as many files as hold them, the last one included; of a tool without
    files to transfer they are what it works on.
    """
    if settings.get(PER_USER) is not None:
        return Counted(operations_per_user=int(settings[PER_USER]))
    if settings.get(TOGETHER) is not None:
        return Counted(operations=int(settings[TOGETHER]))
    if settings.get(TOTAL) is not None and "file" in settings:
        return Counted(operations=math.ceil(settings[TOTAL] / settings["file"]))
    return None


def by_the_clock(workload: WorkloadSpec) -> WorkloadSpec:
    """The same workload without an end of its own, for runs of a given length."""
    settings = {key: value for key, value in workload.settings.items() if key not in COUNTS}
    return workload.model_copy(update={"settings": settings})
