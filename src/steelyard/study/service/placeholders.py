"""What stands in the placeholders of a service file, and when a part of it applies."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from steelyard.study.declared.setting import Setting, Words
from steelyard.study.file.source import Where
from steelyard.study.service.entry import Service

GIVEN = ("folder", "study", "sockets", "data", "address", "threads")
"""Placeholders that every service has."""


def text_of(setting: Setting, value: object) -> str:
    """A value of a setting as it stands in a text: sizes in bytes, durations in seconds."""
    match setting.kind:
        case "flag":
            return "true" if value else "false"
        case "duration" | "rate" | "number" | "share":
            return _plain(value)
        case "texts":
            return " ".join(str(item) for item in value) if isinstance(value, tuple) else ""
        case _:
            return str(value)


def _plain(value: object) -> str:
    """A number without an exponent, and without decimals that are none."""
    exact = Decimal(str(value))
    whole = exact == exact.to_integral_value()
    return str(int(exact)) if whole else format(exact.normalize(), "f")


Placed = tuple[Where, str]


def texts_of(entry: Service) -> Iterator[Placed]:
    """All of them, in the order in which a file is usually written."""
    yield from ((("unset", name), text) for name, text in entry.unset.items())
    for name, place in entry.placeholders.items():
        yield from (
            (("placeholders", name, "texts", key), text) for key, text in place.texts.items()
        )
    yield from _files(entry)
    for i, step in enumerate(entry.prepare):
        yield from _words(("prepare", i, "run"), step.run)
    yield from _words(("sockets",), entry.sockets)
    yield from _words(("command",), entry.command)
    for name, setting in entry.settings.items():
        for choice, words in setting.options.items():
            yield from _words(("settings", name, "options", choice), words)
    yield from _words(("ready_command",), entry.ready_command)
    yield from _words(("stop",), entry.stop)
    if entry.version is not None:
        yield from _words(("version", "run"), entry.version.run)
    if entry.authority is not None:
        yield ("authority",), entry.authority


def _files(entry: Service) -> Iterator[Placed]:
    for i, file in enumerate(entry.files):
        yield ("files", i, "at"), file.at
        yield ("files", i, "content"), file.content
    for i, made in enumerate(entry.content):
        yield ("content", i, "at"), made.at


def _words(where: Where, words: Words) -> Iterator[Placed]:
    yield from (((*where, i), word) for i, word in enumerate(words))
