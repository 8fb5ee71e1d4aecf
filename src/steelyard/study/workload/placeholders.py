"""Which placeholders the texts of a workload file may hold."""

from __future__ import annotations

from collections.abc import Iterator

from steelyard.study.declared.setting import SettingKind, Words
from steelyard.study.file.source import Where
from steelyard.study.workload.entry import Workload
from steelyard.study.workload.metric import Look

GIVEN: dict[str, SettingKind] = {
    "folder": "text",
    "study": "text",
    "mount": "text",
    "device": "text",
    "threads": "count",
    "seed": "count",
    "window": "duration",
    "warmup": "duration",
}
"""Placeholders that every tool has, with the kind of what stands there."""
SERVED: dict[str, SettingKind] = {
    "address": "text",
    "port": "port",
    "authority": "text",
}
"""Those of a tool that a service answers."""
DRIVEN: dict[str, SettingKind] = {"users": "count", "rate": "number"}
"""Those of a tool that takes a load."""
ALWAYS = ("folder", "study", "threads", "seed")
"""What is known before the system is there: versions are asked for with these alone."""

Placed = tuple[Where, str]


def known_placeholders(entry: Workload) -> dict[str, SettingKind]:
    """Names of all placeholders that its texts may hold, with the kinds of what stands there."""
    known = dict(GIVEN)
    if entry.speaks:
        known |= SERVED
        for protocol in entry.speaks:
            known |= {f"{protocol}_address": "text", f"{protocol}_port": "port"}
    if entry.load:
        known |= DRIVEN
    known |= {name: setting.kind for name, setting in entry.settings.items()}
    known |= dict.fromkeys(entry.placeholders, "text")
    return known | dict.fromkeys(entry.writes, "text")


def texts_of(entry: Workload) -> Iterator[Placed]:
    """Every text that may hold placeholders, with where it stands."""
    for name, place in entry.placeholders.items():
        yield from (
            (("placeholders", name, "texts", key), text) for key, text in place.texts.items()
        )
    yield from ((("writes", name), text) for name, text in entry.writes.items())
    for i, file in enumerate(entry.files):
        yield ("files", i, "at"), file.at
        yield ("files", i, "content"), file.content
    yield from words_of(entry)
    yield from commands_of(entry)
    for where, look in looks_of(entry):
        yield from _look(where, look)


def words_of(entry: Workload) -> Iterator[Placed]:
    """The words of settings."""
    for name, words in entry.words.items():
        if isinstance(words, dict):
            for choice, listed in words.items():
                yield from _words(("words", name, choice), listed)
        else:
            yield from _words(("words", name), words)


def commands_of(entry: Workload) -> Iterator[Placed]:
    """The words of every command; only these may be ``{words.NAME}``."""
    for key in ("prepare", "cleanup"):
        for i, step in enumerate(getattr(entry, key)):
            yield from _words((key, i, "run"), step.run)
    yield from _words(("command",), entry.command)
    yield from _words(("then",), entry.then)
    if entry.version is not None:
        yield from _words(("version", "run"), entry.version.run)


def looks_of(entry: Workload) -> Iterator[tuple[Where, Look]]:
    """Every place of the output that is read, with where the file says so."""
    for name, metric in entry.metrics.items():
        yield ("metrics", name), metric
        if metric.per is not None:
            yield ("metrics", name, "per"), metric.per
        if metric.needs is not None:
            yield ("metrics", name, "needs"), metric.needs
    for i, refusal in enumerate(entry.refuses):
        yield ("refuses", i), refusal


def _look(where: Where, look: Look) -> Iterator[Placed]:
    for i, path in enumerate(look.json_paths):
        yield ((*where, "json", i) if len(look.json_paths) > 1 else (*where, "json")), path
    rows = look.row if isinstance(look.row, dict) else {"": look.row or ""}
    for column, text in rows.items():
        yield ((*where, "row", column) if column else (*where, "row")), text
    yield (*where, "times"), look.times or ""


def _words(where: Where, words: Words) -> Iterator[Placed]:
    yield from (((*where, i), word) for i, word in enumerate(words))
