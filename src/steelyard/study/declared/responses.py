"""The numbers that a trial can give: unit, better direction, how several instances give one."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Literal

from steelyard.study.declared.setting import Entry
from steelyard.study.model import Direction, ResponseSpec
from steelyard.study.shipped import content_of, shipped

EVENT = "event"
"""What stands in the names of responses for each event of a study."""
Join = Literal["sum", "largest", "least", "mean"]
Shared = Literal["kernel", "disk", "network"]


class Response(Entry):
    """A number per trial. A name with ``{p}`` stands for one per statistic.

    What may be zero has no logarithm and therefore cannot decide a study. ``instances`` says how
    the figures of several instances become the one of their trial; ``shared`` what instances may
    have in common, such as containers their kernel, which then counts once.
    """

    label: str
    unit: str
    direction: Direction
    meaning: str
    source: Literal["load", "samples", "probe", "event", "command", "tool"]
    may_be_zero: bool = False
    instances: Join = "largest"
    shared: Shared | None = None
    runs: bool = True


class _Responses(Entry):
    """All responses as written; ``words`` are what places in their names stand for."""

    statistics: dict[str, str]
    words: dict[str, tuple[str, ...]]
    responses: dict[str, Response]


@cache
def _responses() -> _Responses:
    return _Responses.model_validate(content_of(shipped("responses.yaml")))


@cache
def statistics() -> tuple[str, ...]:
    """What a response such as ``response.{p}`` is given as."""
    return tuple(_responses().statistics)


@cache
def families() -> tuple[str, ...]:
    """Names of responses as people list them: ``response.*``, ``phase.PHASE.*``."""
    words = {f"{{{place}}}": place.upper() for place in _responses().words}
    return tuple(_replaced(name, words | {"{p}": "*"}) for name in _responses().responses)


def _replaced(name: str, words: dict[str, str]) -> str:
    for placeholder, word in words.items():
        name = name.replace(placeholder, word)
    return name


def is_of_event(name: str) -> bool:
    """Whether a response is of what an event did to the load."""
    return name.startswith(f"{EVENT}.")


@cache
def responses(events: tuple[str, ...] = ()) -> dict[str, Response]:
    """Every response by its full name; ``response.{p}`` is spelt out for each statistic, and
    ``event.{event}.took`` for each of the events.
    """
    data = _responses()
    words = data.words | {EVENT: events}
    known: dict[str, Response] = {}
    for name, written in data.responses.items():
        for spelt, entry in _by_word(name, written, words):
            if "{p}" not in spelt:
                known[spelt] = entry
                continue
            for statistic, said in data.statistics.items():
                label = f"{entry.label}, {said}"
                known[spelt.replace("{p}", statistic)] = entry.model_copy(update={"label": label})
    return known


def _by_word(
    name: str, entry: Response, words: dict[str, tuple[str, ...]]
) -> Iterator[tuple[str, Response]]:
    place = next((place for place in words if f"{{{place}}}" in name), None)
    if place is None:
        yield name, entry
        return
    for word in words[place]:
        label = entry.label.replace(f"{{{place}}}", word)
        yield name.replace(f"{{{place}}}", word), entry.model_copy(update={"label": label})


def response_spec(name: str, entry: Response, *, operation: str, primary: bool) -> ResponseSpec:
    """A response as part of a study whose operations are called ``operation``."""
    return ResponseSpec(
        name=name,
        label=entry.label,
        unit=entry.unit.replace("{operation}", operation),
        direction=entry.direction,
        primary=primary,
        meaning=entry.meaning,
        source=entry.source,
    )
