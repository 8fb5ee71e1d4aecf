"""What is wrong in a meter file besides its grammar: how it is asked, placeholders, units. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from steelyard import units
from steelyard.study.declared.json_path import is_path
from steelyard.study.declared.placeholders import placeholders, whole_placeholder
from steelyard.study.declared.text_checks import placeholder_mistakes
from steelyard.study.declared.value import default_of
from steelyard.study.file.complaints import Mistake, choice_hint
from steelyard.study.file.source import Where
from steelyard.study.meter.entry import UNITS, Found, Meter

FOLDER = "folder"
_OF_THE_STUDY = "use"


def mistakes(entry: Meter) -> Iterator[Mistake]:
    """All that is wrong with a meter."""
    if (entry.http is None) == (entry.command is None):
        hint = "write `http: {url: ...}` or `command: {run: [...]}`"
        yield Mistake(("summary",), "one way to ask the meter is needed, and only one", hint)
    yield from _settings(entry)
    yield from _value(entry)
    for key, found in _founds(entry):
        yield from _found(key, found)
    known = {name: setting.kind for name, setting in entry.settings.items()} | {FOLDER: None}
    for where, text in _texts(entry):
        yield from placeholder_mistakes(where, text, known)
        yield from _may_be_empty(where, text, entry)


def _settings(entry: Meter) -> Iterator[Mistake]:
    for name, setting in entry.settings.items():
        if name in (_OF_THE_STUDY, FOLDER):
            message = f"`{name}` means something else of every meter: it can be no setting"
            yield Mistake(("settings", name), message, "give the setting another name")
        try:
            default_of(setting)
        except units.UnitError as error:
            yield Mistake(("settings", name, "default"), error.message, error.hint)


def _value(entry: Meter) -> Iterator[Mistake]:
    where: Where = ("value", "unit")
    place = whole_placeholder(entry.value.unit)
    setting = None if place is None else entry.settings.get(place.name)
    if place is None and entry.value.unit not in UNITS:
        hint = choice_hint(entry.value.unit, UNITS, "units")
        yield Mistake(where, f"there is no unit `{entry.value.unit}` of power or energy", hint)
    elif place is not None and (
        setting is None or not setting.choices or not set(setting.choices) <= set(UNITS)
    ):
        hint = f"give it the kind `word` with choices among {', '.join(UNITS)}"
        yield Mistake(where, f"`{place.name}` may be no unit", hint)
    for key, number in (("factor", entry.value.factor), ("resolution", entry.value.resolution)):
        if isinstance(number, str):
            place = whole_placeholder(number)
            setting = None if place is None else entry.settings.get(place.name)
            if setting is None or setting.kind != "number":
                hint = "write a number, or the placeholder of a setting of kind `number`"
                yield Mistake(("value", key), f"`{number}` is no number", hint)
        elif number < 0 or (key == "factor" and number == 0):
            message = f"`{key}` is {number:g}, which no meter has"
            yield Mistake(("value", key), message, "write a number above zero")


def _founds(entry: Meter) -> Iterator[tuple[str, Found]]:
    for key in ("value", "unit_told", "moment"):
        found = getattr(entry, key)
        if found is not None:
            yield key, found


def _found(key: str, found: Found) -> Iterator[Mistake]:
    if (found.at is None) == (found.pattern is None):
        hint = "write `at: ...` for JSON, or `pattern: ...` for text"
        yield Mistake((key,), f"one place for `{key}` is needed, and only one", hint)
    if found.at is not None and not is_path(re.sub(r"\{\w+\}", "x", found.at)):
        hint = "write keys and numbers with dots between, as `meters.0.power`"
        yield Mistake((key, "at"), f"`{found.at}` is no place in JSON", hint)
    if found.pattern is not None:
        yield from _pattern((key, "pattern"), found.pattern)


def _pattern(where: Where, pattern: str) -> Iterator[Mistake]:
    try:
        groups = re.compile(pattern).groups
    except re.error as error:
        hint = "such as 'reading: +([0-9]+) Watts'"
        yield Mistake(where, f"it is not a regular expression: {error}", hint)
        return
    if groups != 1:
        hint = "put brackets around what is looked for, and around nothing else"
        yield Mistake(where, f"the pattern has {groups} groups, and needs one", hint)


def _texts(entry: Meter) -> Iterator[tuple[Where, str]]:
    if entry.http is not None:
        yield ("http", "url"), entry.http.url
        yield from ((("http", "headers", name), text) for name, text in entry.http.headers.items())
    if entry.command is not None:
        for i, word in enumerate(entry.command.run):
            yield ("command", "run", i), word
        for part in ("environment", "files"):
            for name, text in getattr(entry.command, part).items():
                yield ("command", part, name), text
    for key, found in _founds(entry):
        if found.at is not None:
            yield (key, "at"), found.at


def _may_be_empty(where: Where, text: str, entry: Meter) -> Iterator[Mistake]:
    for place in placeholders(text):
        setting = entry.settings.get(place.name)
        if setting is not None and setting.default is None and not setting.required:
            hint = "add `required: true`, or a default"
            message = f"`{place.name}` may be left out, and then its placeholder has no value"
            yield Mistake(where, message, hint)
