"""Which function writes the sentence of which kind of note."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from pydantic import BaseModel

from steelyard.records.note import TEXT, Note
from steelyard.study.labels import Labels

N = TypeVar("N", bound=Note)
WRITERS: dict[type[Note], Callable[[Any, Labels], str]] = {}
BRIEFS: dict[type[Note], Callable[[Any], str]] = {}


def writes(kind: type[N]) -> Callable[[Callable[[N], str]], Callable[[N], str]]:
    """Register the function that writes notes of one kind."""

    def register(writer: Callable[[N], str]) -> Callable[[N], str]:
        WRITERS[kind] = lambda note, _: writer(note)
        return writer

    return register


def writes_levels(
    kind: type[N],
) -> Callable[[Callable[[N, Labels], str]], Callable[[N, Labels], str]]:
    """The same for a kind that has levels or conditions, which labels write."""

    def register(writer: Callable[[N, Labels], str]) -> Callable[[N, Labels], str]:
        WRITERS[kind] = writer
        return writer

    return register


def shortens(kind: type[N]) -> Callable[[Callable[[N], str]], Callable[[N], str]]:
    """Register the function that writes the short form of one kind."""

    def register(writer: Callable[[N], str]) -> Callable[[N], str]:
        BRIEFS[kind] = writer
        return writer

    return register


def brief(note: Note, labels: Labels) -> str:
    """The short form of a note, for the first screen; its sentence where that is short."""
    found = BRIEFS.get(type(note))
    return text(note, labels) if found is None else _on_its_machines(note, found(note))


def text(note: Note, labels: Labels) -> str:
    """The sentence of a note, without a full stop, ready to stand in a list.

    Of several machines it names those that it is about, unless it is about all.
    """
    return _on_its_machines(note, WRITERS[type(note)](note, labels))


def _on_its_machines(note: Note, sentence: str) -> str:
    return f"{', '.join(note.on)}: {sentence}" if note.on else sentence


def texts(found: Iterable[Note], labels: Labels) -> list[str]:
    """The sentences of several notes."""
    return [text(note, labels) for note in found]


def json_text(found: BaseModel, labels: Labels) -> str:
    """A document for programs: each note as its kind and figures, with its sentence added."""
    return found.model_dump_json(indent=2, context={TEXT: lambda note: text(note, labels)})
