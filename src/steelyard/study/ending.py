"""What ends a trial: the clock after a window, a number of operations, or the command itself."""

from __future__ import annotations

import math
from dataclasses import dataclass

from steelyard.study.declared.setting import Settings
from steelyard.study.lookup import workload_of
from steelyard.study.model import Study, WorkloadSpec
from steelyard.study.workload.settings import SharedSettings
from steelyard.study.workload_study import WorkloadStudy, studies


@dataclass(frozen=True)
class Extent:
    """What one trial measures, after ``warmup_s``: ``window_s``, or so many operations.

    One of them is set; with none, a trial is one run of a command to its end. ``operation`` is
    the plural of what is counted: ``messages``.
    """

    warmup_s: float | None = None
    window_s: float | None = None
    operations: int | None = None
    operations_per_user: int | None = None
    operation: str | None = None


def extent_of(study: WorkloadStudy) -> Extent:
    """What a trial of one workload measures."""
    if _runs_to_its_end(study):
        return Extent()
    warmup_s, found = study.trials.warmup_s, _counted(study)
    if found is None:
        return Extent(warmup_s=warmup_s, window_s=study.trials.window_s)
    return Extent(
        warmup_s=warmup_s,
        operations=found.operations,
        operations_per_user=found.operations_per_user,
        operation=study.workload.operation,
    )


def length_is_known(study: Study) -> bool:
    """Whether it is known how long a trial takes: the clock ends it, and nothing is prepared."""
    disks = any(system.disks for system in study.systems.values())
    return not disks and not any(_lasts_as_it_likes(one) for one in studies(study))


def _lasts_as_it_likes(study: WorkloadStudy) -> bool:
    prepares = bool(workload_of(study.workload).prepare)
    return prepares or not ends_by_the_clock(study)


def ends_by_the_clock(study: WorkloadStudy) -> bool:
    """Whether a trial of this one workload measures a window of the study's length."""
    return extent_of(study).window_s is not None


def _runs_to_its_end(study: WorkloadStudy) -> bool:
    entry = workload_of(study.workload)
    return entry.is_tool and entry.ends != "window"


def _counted(study: WorkloadStudy) -> Counted | None:
    """After how many operations a load ends; a tool counts by itself."""
    return counted(study.workload.settings) if workload_of(study.workload).is_load else None


COUNTS = ("messages", "requests", "total")
"""Settings of workloads that say after how much a trial ends."""


@dataclass(frozen=True)
class Counted:
    """How many operations a trial has; exactly one is set."""

    operations: int | None = None
    operations_per_user: int | None = None


def counted(settings: Settings) -> Counted | None:
    """After how many operations a trial of these settings ends; ``None``: the clock ends it.

    ``total`` bytes are as many files as hold them, the last one included; of a tool without
    files to transfer they are what it works on.
    """
    own = SharedSettings.of(settings)
    if own.messages is not None:
        return Counted(operations_per_user=own.messages)
    if own.requests is not None:
        return Counted(operations=own.requests)
    if own.total is not None and own.file is not None:
        return Counted(operations=math.ceil(own.total / own.file))
    return None


def by_the_clock(workload: WorkloadSpec) -> WorkloadSpec:
    """The same workload without an end of its own, for runs of a given length."""
    settings = {key: value for key, value in workload.settings.items() if key not in COUNTS}
    return workload.model_copy(update={"settings": settings})
