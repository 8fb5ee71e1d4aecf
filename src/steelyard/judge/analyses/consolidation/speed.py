"""Which response tells what an instance gets done, and how that is added up. Pure."""

from __future__ import annotations

from steelyard.judge.analyses.scaling.readings import throughput_of
from steelyard.study.model import ResponseSpec, Study

_WORK_TIME = "s"
"""The unit of times of a whole piece of work; response times of single operations are in ns."""


def response_of(study: Study) -> ResponseSpec | None:
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


def remarks(response: ResponseSpec) -> list[str]:
    """What a reader has to know of figures that are no rates."""
    said = []
    if response.direction == "lower":
        said.append(f"{response.label} counts as speed, one over it")
    if not adds_up(response):
        said.append(
            f"{response.label} of several instances cannot be added: nothing is said of all "
            "together; a response that is a rate would tell it"
        )
    return said
