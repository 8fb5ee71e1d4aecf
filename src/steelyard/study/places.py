"""The one language of places in files of platforms and services: ``{label}``, ``{memory:MiB}``.

A place is a name in one pair of braces, without spaces. All other braces stand for themselves, so
that PowerShell, JSON and Go templates need no escaping: ``{ label }`` and ``{{label}}`` stay.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from steelyard.study.file.complaints import choice_hint

Value = str | int | float | bool | None
Quote = Callable[[Value, str], str]
"""From a value and its text to what stands in the template."""

_TOKEN = re.compile(
    r"(?<!\{)\{(?P<name>[A-Za-z_][\w-]*(?:\.[\w-]+)?)(?::(?P<unit>\w+))?\}(?!\})", re.ASCII
)
UNITS: dict[str, tuple[str, int]] = {
    "B": ("size", 1),
    "KiB": ("size", 1024),
    "MiB": ("size", 1024**2),
    "GiB": ("size", 1024**3),
    "kB": ("size", 1000),
    "MB": ("size", 1000**2),
    "GB": ("size", 1000**3),
}
"""Units that a size may be asked in: the kind of setting they fit, and bytes in one."""


class TemplateError(Exception):
    """A place cannot be filled; ``hint`` says what to do."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


@dataclass(frozen=True)
class Place:
    """A place as written, and where in the text it begins."""

    name: str
    unit: str | None
    start: int

    def __str__(self) -> str:
        return f"{{{self.name}:{self.unit}}}" if self.unit else f"{{{self.name}}}"


def places(text: str) -> Iterator[Place]:
    """Every place of a text, in order."""
    for match in _TOKEN.finditer(text):
        yield Place(match["name"], match["unit"], match.start())


def whole_place(text: str) -> Place | None:
    """The place that a text is, when it is nothing else."""
    match = _TOKEN.fullmatch(text)
    return Place(match["name"], match["unit"], 0) if match else None


def as_it_is(_value: Value, text: str) -> str:
    """The quoting of words that no shell reads."""
    return text


def fill(text: str, values: Mapping[str, Value], quote: Quote = as_it_is) -> str:
    """The text with every place filled.

    Raises:
        TemplateError: a place has no value, or not a whole number of its unit.
    """

    def filled(match: re.Match[str]) -> str:
        place = Place(match["name"], match["unit"], match.start())
        value = values.get(place.name)
        if value is None:
            message = f"there is no value for {place}"
            raise TemplateError(message, f"set `{place.name}` for the system")
        value = in_unit(value, place)
        return quote(value, _text(value))

    return _TOKEN.sub(filled, text)


def in_unit(value: Value, place: Place) -> Value:
    """A size in the unit of its place."""
    if place.unit is None:
        return value
    size = UNITS[place.unit][1]
    if isinstance(value, str) and value.isdecimal():
        value = int(value)
    if not isinstance(value, int) or value % size:
        message = f"`{place.name}` is {value} B, not a whole number of {place.unit}"
        raise TemplateError(message, f"write a multiple of 1 {place.unit}")
    return value // size


def unit_mistake(place: Place, kind: str | None) -> tuple[str, str] | None:
    """What is wrong with the unit of a place for a value of this kind, and what to do."""
    if place.unit is None:
        return None
    if place.unit not in UNITS:
        return f"there is no unit `{place.unit}`", choice_hint(place.unit, UNITS, "units")
    if kind != UNITS[place.unit][0]:
        return f"{place}: `{place.name}` is no size", "take the unit out"
    return None


def _text(value: Value) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
