"""Every text of a platform's file that may hold placeholders, and which there are for it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from steelyard.study.catalogue import Platform
from steelyard.study.declared.placeholders import placeholders
from steelyard.study.file.source import Source, Where
from steelyard.study.platform.entry import STEP_VERBS, Command, Commands, Reading, Step

ALWAYS = ("label", "mark", "number", "instance", "folder")
"""Name of the thing; a UUID that says it is ours; a number from it; which of several; a folder."""
DISK = ("disk.name", "disk.size", "disk.cache", "disk.bus", "disk.number", "disk.letter")
ENTERING = ("address", "engine")
CARRYING = ("address", "engine", "engine_here")
_OF_A_VERB = {"attach": DISK, "detach": DISK, "carry": CARRYING, "up": ("engine_here",)}


@dataclass(frozen=True)
class Text:
    """A text with its place in the file; ``splices`` in a list of words."""

    where: Where
    text: str
    known: tuple[str, ...]
    splices: bool = False


def texts(platform: Platform, commands: Commands, source: Source | None = None) -> Iterator[Text]:
    """Every text that may hold placeholders; ``source`` finds lists of words in short form."""
    settings = tuple(name for name, s in platform.settings.items() if s.kind != "group")
    always = (*ALWAYS, *settings)
    for text in _all(commands, always):
        yield text if source is None else _short(text, source)


def required_settings(platform: Platform) -> tuple[str, ...]:
    """Settings that are declared so, or have no default and some command cannot do without."""
    declared = tuple(name for name, s in platform.settings.items() if s.required)
    if platform.commands is None:
        return declared
    needed = {
        place.name
        for text in texts(platform, platform.commands)
        if "words" not in text.where
        for place in placeholders(text.text)
    }
    return tuple(
        name
        for name, s in platform.settings.items()
        if name in declared or (name in needed and s.default is None)
    )


def _short(text: Text, source: Source) -> Text:
    """A step that is written as a list or as a text has no key ``run`` or ``script``."""
    where = text.where
    if where in source.values:
        return text
    for key in ("run", "script"):
        if key in where:
            at = len(where) - 1 - where[::-1].index(key)
            short = (*where[:at], *where[at + 1 :])
            if short in source.values:
                return Text(short, text.text, text.known, text.splices)
    return text


def _all(commands: Commands, always: tuple[str, ...]) -> Iterator[Text]:
    root: Where = ("commands",)
    yield from _listed((*root, "through"), commands.through, always)
    for name, words in commands.words.items():
        choices = words if isinstance(words, dict) else {"": words}
        for choice, listed in choices.items():
            where = (*root, "words", name, choice) if choice else (*root, "words", name)
            yield from _listed(where, listed, always)
    for name, file in commands.files.items():
        for key in ("path", "content"):
            yield Text((*root, "files", name, key), getattr(file, key), always)
    yield from _command((*root, "exists"), commands.exists, always)
    yield Text((*root, "exists", "ours"), commands.exists.ours, always)
    for verb in (*STEP_VERBS, "ready", "clean"):
        known = (*always, *_OF_A_VERB.get(verb, ()))
        for i, step in enumerate(getattr(commands, verb)):
            yield from _command((*root, verb, i), step, known)
    yield from _entering(root, commands, always)
    for place, reading in commands.readings():
        yield from _command((*root, *place), reading, always)
    yield from _resetting(root, commands, always)


def _entering(root: Where, commands: Commands, always: tuple[str, ...]) -> Iterator[Text]:
    pipe = commands.inside.pipe
    yield from _listed((*root, "inside", "pipe"), pipe, (*always, *ENTERING))
    known = (*always, *ENTERING, "engine_here")
    yield from _listed((*root, "inside", "join"), commands.inside.join, known)
    for key in ("engine", "folder"):
        yield Text((*root, key), getattr(commands, key), always)
    if commands.console is not None:
        yield Text((*root, "console"), commands.console, always)


def _resetting(root: Where, commands: Commands, always: tuple[str, ...]) -> Iterator[Text]:
    for strength, reset in commands.reset.items():
        where = (*root, "reset", strength)
        for i, step in enumerate(reset.steps):
            yield from _command((*where, "steps", i), step, always)
        for name, proof in reset.prove.items():
            yield from _command((*where, "prove", name), proof, always)
            if proof.equals is not None:
                yield Text((*where, "prove", name, "equals"), proof.equals, always)


def _command(where: Where, command: Command, known: tuple[str, ...]) -> Iterator[Text]:
    yield from _listed((*where, "run"), command.run, known)
    if command.script is not None:
        yield Text((*where, "script"), command.script, known)
    if isinstance(command, Reading):
        yield from _listed((*where, "inside"), command.inside, known)
    if isinstance(command, Step) and command.stdin is not None:
        yield Text((*where, "stdin"), command.stdin, known)


def _listed(where: Where, words: list[str], known: tuple[str, ...]) -> Iterator[Text]:
    for i, word in enumerate(words):
        yield Text((*where, i), word, known, splices=True)
