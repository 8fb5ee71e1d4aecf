"""What one trial measures, in words: a window by the clock, so many operations, or a whole run."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from steelyard.study.declared.setting import Settings
from steelyard.study.each_workload import name_of, studies
from steelyard.study.lookup import workload_of
from steelyard.study.model import Study, WorkloadSpec
from steelyard.study.workload.settings import SharedSettings
from steelyard.units import format_duration

_WHOLE = "one run to its own end"


def ending(study: Study) -> str:
    """What a trial does once it has begun: ``warm-up 1 s, window 10 s``."""
    return _each(study, _ending)


def _ending(study: Study) -> str:
    if _runs_to_its_end(study):
        return _WHOLE
    of = _of_operations(study) or f"window {format_duration(study.trials.window_s)}"
    return f"warm-up {format_duration(study.trials.warmup_s)}, {of}"


def is_foreseen(study: Study) -> bool:
    """Whether it is known how long a trial takes: the clock ends it, and nothing is prepared."""
    disks = any(system.disks for system in study.systems.values())
    return not disks and not any(_lasts_as_it_likes(one) for one in studies(study))


def _lasts_as_it_likes(study: Study) -> bool:
    prepares = bool(workload_of(study.workload).prepare)
    return prepares or not ends_by_the_clock(study)


def ends_by_the_clock(study: Study) -> bool:
    """Whether a trial of this one workload measures a window of the study's length."""
    return not _runs_to_its_end(study) and _of_operations(study) is None


def measured(study: Study) -> str:
    """What the figures of a trial are of."""
    return _each(study, _measured)


def _each(study: Study, said: Callable[[Study], str]) -> str:
    """Of several workloads that differ in it, whose is which."""
    by_words: dict[str, list[str]] = {}
    for one in studies(study):
        by_words.setdefault(said(one), []).append(name_of(one))
    if len(by_words) == 1:
        return next(iter(by_words))
    return "; ".join(f"of {', '.join(names)} {words}" for words, names in by_words.items())


def _measured(study: Study) -> str:
    if _runs_to_its_end(study):
        return _WHOLE
    of = _of_operations(study) or f"{study.trials.window_s:g} s"
    return f"{of} after {study.trials.warmup_s:g} s of warm-up"


def _runs_to_its_end(study: Study) -> bool:
    entry = workload_of(study.workload)
    return entry.is_tool and entry.ends != "window"


def _of_operations(study: Study) -> str | None:
    found = counted(study.workload.settings)
    if found is None or not workload_of(study.workload).is_load:
        return None
    if found.operations_per_user is not None:
        return f"{found.operations_per_user:,} {study.workload.operation} of each user"
    return f"{found.operations:,} {study.workload.operation}"


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
