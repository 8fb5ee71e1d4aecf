"""Every kind of note has one writer."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Literal

import pytest

from steelyard.judge.frozen import Frozen
from steelyard.judge.note import Note
from steelyard.report import notes
from steelyard.report.notes.registry import WRITERS
from steelyard.study.labels import Labels


def _kinds(base: type[Note]) -> Iterator[type[Note]]:
    for kind in base.__subclasses__():
        yield kind
        yield from _kinds(kind)


class _Slow(Note):
    kind: Literal["slow"] = "slow"
    wait_s: float


class _Document(Frozen):
    notes: tuple[_Slow, ...]


@pytest.fixture
def document() -> Iterator[_Document]:
    writers = dict(WRITERS)
    notes.writes(_Slow)(lambda note: f"slow by {note.wait_s} s")
    yield _Document(notes=(_Slow(wait_s=2.0),))
    WRITERS.clear()
    WRITERS.update(writers)


def test_a_document_has_the_kind_the_figures_and_the_sentence_of_a_note(
    document: _Document,
) -> None:
    assert json.loads(notes.json_text(document, Labels())) == {
        "notes": [{"kind": "slow", "wait_s": 2.0, "text": "slow by 2.0 s"}]
    }


def test_the_sentence_of_a_note_is_dropped_when_a_document_is_read(document: _Document) -> None:
    assert _Document.model_validate_json(notes.json_text(document, Labels())) == document
    assert document.model_dump() == {"notes": ({"kind": "slow", "wait_s": 2.0},)}


def test_every_kind_of_note_has_a_writer() -> None:
    assert {
        kind for kind in _kinds(Note) if not kind.__subclasses__() and kind.__module__ != __name__
    } == set(WRITERS)
