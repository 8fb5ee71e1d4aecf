"""Checks that files of services, workloads and platforms have in common. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from steelyard.study.declared.conditions import values_of
from steelyard.study.declared.placeholders import placeholders, unit_mistake, whole_placeholder
from steelyard.study.declared.setting import Setting
from steelyard.study.file.complaints import Mistake, choice_hint
from steelyard.study.file.source import Where

Words = Mapping[str, Sequence[str] | Mapping[str, Sequence[str]]]


def placeholder_mistakes(
    where: Where, text: str, known: Mapping[str, str | None]
) -> Iterator[Mistake]:
    """Placeholders of a text that nothing fills, and units that do not fit.

    ``known`` holds the kind of what stands in each, where that has one.
    """
    for placeholder in placeholders(text):
        wrong = unit_mistake(placeholder, known.get(placeholder.name))
        if placeholder.name not in known:
            hint = choice_hint(placeholder.name, known, "placeholders")
            yield Mistake(where, f"there is no placeholder `{placeholder}`", hint)
        elif wrong is not None:
            yield Mistake(where, *wrong)


def words_in(text: str) -> list[str]:
    """Names of the settings whose words a text asks for, as ``{words.NAME}``."""
    parts = (placeholder.name.partition(".") for placeholder in placeholders(text))
    return [name for group, _, name in parts if group == "words" and name]


def words_mistakes(where: Where, text: str, words: Words, *, listed: bool) -> Iterator[Mistake]:
    """Words of settings that a text asks for and cannot have.

    ``listed``: the text is one of a list of words, where several can stand in its place.
    """
    for name in words_in(text):
        if name not in words:
            hint = choice_hint(name, words, "words")
            yield Mistake(where, f"there are no words `{name}`", hint)
        elif not (listed and whole_placeholder(text)):
            message = f"`{{words.{name}}}` is not always one word, so it must stand alone"
            yield Mistake(where, message, "make it a word of its own in a list of words")


def value_mistakes(
    where: Where, name: str, setting: Setting, given: Collection[str]
) -> Iterator[Mistake]:
    """Values of a setting for which a file gives nothing, and values that it never has."""
    wanted = values_of(setting)
    hint = f"values of `{name}`: {', '.join(wanted) or 'not countable'}"
    for value in sorted(set(wanted) - set(given)):
        yield Mistake(where, f"nothing is given for `{value}`", hint)
    for value in sorted(set(given) - set(wanted)):
        yield Mistake(where, f"`{name}` is never `{value}`", hint)


def version_mistakes(pattern: str, example: str) -> Iterator[Mistake]:
    """Why a pattern cannot find the version in what a program prints."""
    where: Where = ("version", "pattern")
    try:
        groups = re.compile(pattern).groups
    except re.error as error:
        message = f"`version.pattern` is not a regular expression: {error}"
        yield Mistake(where, message, f"such as '{example}'")
        return
    if groups != 1:
        hint = f"put brackets around the version, as '{example}'"
        yield Mistake(where, f"`version.pattern` has {groups} groups, and needs one", hint)
