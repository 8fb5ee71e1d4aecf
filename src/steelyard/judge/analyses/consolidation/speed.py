"""Which response is the speed of an instance, and how speeds are added up. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from steelyard.judge.analyses.consolidation.findings import (
    ConsolidationGap,
    InverseAsSpeed,
    NotAdditive,
)
from steelyard.judge.analyses.scaling.readings import throughput_of
from steelyard.study.model import ResponseSpec
from steelyard.study.workload_study import WorkloadStudy

_WORK_TIME = "s"
"""The unit of times of a whole piece of work; response times of single operations are in ns."""


def response_of(study: WorkloadStudy) -> ResponseSpec | None:
    """A throughput; without one the primary response, if more or less of it is better."""
    found = throughput_of(study)
    if found is not None or study.primary.direction == "none":
        return found
    return study.primary


def speed(response: ResponseSpec, value: float | None) -> float | None:
    """What is got done: a rate as it is, a time as one over it; ``None`` without a value."""
    if not value or value < 0:
        return None
    return value if response.direction == "higher" else 1 / value


def adds_up(response: ResponseSpec) -> bool:
    """Whether several instances do so much together: rates, and times of the same whole work."""
    if response.direction == "higher":
        return response.unit.endswith("/s")
    return response.unit == _WORK_TIME


def unit_of(response: ResponseSpec) -> str:
    """The unit of what several do together."""
    return response.unit if response.direction == "higher" else "runs/s"


def gaps(response: ResponseSpec) -> Iterator[ConsolidationGap]:
    """What a reader has to know of figures that are no rates."""
    if response.direction == "lower":
        yield InverseAsSpeed(label=response.label)
    if not adds_up(response):
        yield NotAdditive(label=response.label)
