"""Every kind of note has one writer."""

from __future__ import annotations

from collections.abc import Iterator

from steelyard.judge.note import Note
from steelyard.report import notes


def _kinds(base: type[Note]) -> Iterator[type[Note]]:
    for kind in base.__subclasses__():
        yield kind
        yield from _kinds(kind)


def test_every_kind_of_note_has_a_writer() -> None:
    assert {kind for kind in _kinds(Note) if not kind.__subclasses__()} == set(notes._WRITERS)
