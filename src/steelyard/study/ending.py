"""What one trial measures, in words: a window by the clock, so many operations, or a whole run."""

from __future__ import annotations

from collections.abc import Callable

from steelyard.study.counted import counted
from steelyard.study.each_workload import name_of, studies
from steelyard.study.model import Study
from steelyard.study.workload.own import workload_of
from steelyard.units import format_duration

_WHOLE = "one run to its own end"


def ending(study: Study) -> str:
    """What a trial does once it has begun: ``warm-up 1 s, window 10 s``."""
    return _each(study, _ending)


def _ending(study: Study) -> str:
    if _runs_to_its_end(study):
        return _WHOLE
    of = _of_operations(study) or f"window {format_duration(study.trials.window_s)}"
    return f"warm-up {format_duration(study.trials.warm_up_s)}, {of}"


def is_foreseen(study: Study) -> bool:
    """Whether the clock ends every trial, so that somebody knows how long it takes."""
    return not any(_runs_to_its_end(one) or _of_operations(one) for one in studies(study))


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
    return f"{of} after {study.trials.warm_up_s:g} s of warm-up"


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
