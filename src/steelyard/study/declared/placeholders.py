"""Placeholders in files of platforms, services and workloads: ``{label}``, ``{memory:MiB}``.

A placeholder is a name in one pair of braces, without spaces. All other braces stand for
themselves, so that PowerShell, JSON, Go templates and formats such as curl's need no escaping:
``{ label }``, ``{{label}}`` and ``%{label}`` stay.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from steelyard.study.file.complaints import choice_hint

Value = str | int | float | bool | None
Quote = Callable[[Value, str], str]
"""From a value and its text to what stands in the template."""

_TOKEN = re.compile(
    r"(?<![{%])\{(?P<name>[A-Za-z_][\w-]*(?:\.[\w-]+)?)(?::(?P<unit>\w+))?\}(?!\})", re.ASCII
)
UNITS: dict[str, tuple[str, Decimal]] = {
    "B": ("size", Decimal(1)),
    "KiB": ("size", Decimal(1024)),
    "MiB": ("size", Decimal(1024**2)),
    "GiB": ("size", Decimal(1024**3)),
    "kB": ("size", Decimal(1000)),
    "MB": ("size", Decimal(1000**2)),
    "GB": ("size", Decimal(1000**3)),
    "us": ("duration", Decimal("0.000001")),
    "ms": ("duration", Decimal("0.001")),
    "s": ("duration", Decimal(1)),
    "min": ("duration", Decimal(60)),
    "percent": ("share", Decimal("0.01")),
}
"""Units that a value may be asked in: the kind of setting they fit, and base units in one."""
_WORDS = "words."
_SHOWN = {"size": " B", "duration": " s", "share": ""}
Listed = Mapping[str, Sequence[str] | Mapping[str, Sequence[str]]]
"""Words of settings, as ``words`` of a file has them: by value where a setting has choices."""


class TemplateError(Exception):
    """A placeholder cannot be filled; ``hint`` says what to do."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


@dataclass(frozen=True)
class Placeholder:
    """A placeholder as written, and where in the text it begins."""

    name: str
    unit: str | None
    start: int

    def __str__(self) -> str:
        return f"{{{self.name}:{self.unit}}}" if self.unit else f"{{{self.name}}}"


def placeholders(text: str) -> Iterator[Placeholder]:
    """Every placeholder of a text, in order."""
    for match in _TOKEN.finditer(text):
        yield Placeholder(match["name"], match["unit"], match.start())


def whole_placeholder(text: str) -> Placeholder | None:
    """The placeholder that a text is, when it is nothing else."""
    match = _TOKEN.fullmatch(text)
    return Placeholder(match["name"], match["unit"], 0) if match else None


def as_it_is(_value: Value, text: str) -> str:
    """The quoting of words that no shell reads."""
    return text


def fill(text: str, values: Mapping[str, Value], quote: Quote = as_it_is) -> str:
    """The text with every placeholder filled.

    Raises:
        TemplateError: a placeholder has no value, or not a whole number of its unit.
    """

    def filled(match: re.Match[str]) -> str:
        place = Placeholder(match["name"], match["unit"], match.start())
        value = values.get(place.name)
        if value is None:
            message = f"there is no value for {place}"
            raise TemplateError(message, f"set `{place.name}` for the system")
        value = in_unit(value, place)
        return quote(value, _text(value))

    return _TOKEN.sub(filled, text)


def in_unit(value: Value, place: Placeholder) -> Value:
    """A size or a duration in the unit of its placeholder."""
    if place.unit is None:
        return value
    kind, one = UNITS[place.unit]
    try:
        units = Decimal(str(value)) / one
    except InvalidOperation:
        units = Decimal("NaN")
    if units.is_nan() or units != units.to_integral_value():
        message = f"`{place.name}` is {value}{_SHOWN[kind]}, not a whole number of {place.unit}"
        raise TemplateError(message, f"write a multiple of 1 {place.unit}")
    return int(units)


def unit_mistake(place: Placeholder, kind: str | None) -> tuple[str, str] | None:
    """What is wrong with the unit of a placeholder for a value of this kind, and what to do."""
    if place.unit is None:
        return None
    if place.unit not in UNITS:
        return f"there is no unit `{place.unit}`", choice_hint(place.unit, UNITS, "units")
    wanted = UNITS[place.unit][0]
    if kind != wanted:
        return f"{place}: `{place.name}` is no {wanted}", "take the unit out"
    return None


def fill_known(text: str, values: Mapping[str, Value]) -> str:
    """The text with those placeholders filled that have a value; all others stay as they are.

    For what a user wrote who may mean the braces themselves.
    """

    def filled(match: re.Match[str]) -> str:
        return fill(match[0], values) if match["name"] in values else match[0]

    return _TOKEN.sub(filled, text)


def spliced(
    templates: Iterable[str],
    one: Callable[[str], str],
    several: Callable[[str], Iterable[str]],
) -> tuple[str, ...]:
    """Words with their placeholders filled by ``one``.

    ``{words.NAME}`` alone becomes the ``several`` words of that name, or none.
    """
    words: list[str] = []
    for template in templates:
        place = whole_placeholder(template)
        if place is not None and place.name.startswith(_WORDS):
            words += several(place.name.removeprefix(_WORDS))
        else:
            words.append(one(template))
    return tuple(words)


def chosen_words(name: str, value: object, listed: Listed) -> Sequence[str]:
    """The words, placeholders included, of a setting with this value; none without one."""
    words = listed[name]
    if value is None:
        return ()
    return words[as_word(value)] if isinstance(words, Mapping) else words


def as_word(value: object) -> str:
    """A value as conditions and texts of a file name it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _text(value: Value) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
