"""The border between judging and telling: the judge emits kinds, the report writes and never reads.

Every kind of note has one writer. A decision that depends on a sentence breaks when the sentence is
written better.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest

import steelyard
from steelyard.plan.model import Frozen
from steelyard.records.missing import MeterTooCoarse
from steelyard.records.note import Note
from steelyard.report import notes
from steelyard.report.notes.registry import WRITERS
from steelyard.study.labels import Labels

SOURCE = Path(steelyard.__file__).parent
LOOKS = {"startswith", "endswith", "partition", "rpartition", "removeprefix", "removesuffix",
         "split", "rsplit", "find", "index", "count"}  # fmt: skip
MATCHES = {"match", "fullmatch", "search"}
WRITTEN = {"note", "line", "sentence", "said", "told", "word", "why", "reason", "caveat", "limit",
           "doubt", "warning", "verb", "message", "family"}  # fmt: skip


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


def test_energy_stands_in_plain_figures_and_none_at_all_in_words_of_its_own() -> None:
    text = notes.text(MeterTooCoarse(energy_j=1512.0, within_j=900.0), Labels())
    assert "1,512 J, within 900 J" in text
    nothing = notes.text(MeterTooCoarse(energy_j=0.0, within_j=3.0), Labels())
    assert "another machine" in nothing
    assert "another machine" not in text


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


def _nodes(*rooms: str) -> Iterator[tuple[str, ast.Module]]:
    for room in rooms:
        for path in sorted((SOURCE / room).rglob("*.py")):
            yield str(path.relative_to(SOURCE)), ast.parse(path.read_text(encoding="utf-8"))


def _name(node: ast.expr) -> str | None:
    """The last name of what is looked into: of a call, that of its receiver."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return _name(node.func.value)
    return None


def _is_sentence(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and len(str(node.value).split()) >= 3


def _looks_into_text(node: ast.AST) -> bool:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        looks = node.func.attr in LOOKS and _name(node.func.value) in WRITTEN
        matches = node.func.attr in MATCHES and any(_name(each) in WRITTEN for each in node.args)
        return looks or matches
    if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In | ast.NotIn):
        return _name(node.comparators[0]) in WRITTEN
    if isinstance(node, ast.Compare):
        return any(_is_sentence(each) for each in (node.left, *node.comparators))
    return isinstance(node, ast.MatchValue) and _is_sentence(node.value)


@pytest.mark.parametrize(
    "code",
    [
        'note.startswith("Carry-over")',
        '"carry-over" in finding.note',
        'view.headline().sentence.partition(": ")',
        're.search("slower", verdict.reason)',
        'told == "no operation was answered"',
        'match told:\n    case "no operation was answered":\n        pass',
    ],
)
def test_a_planted_look_into_a_text_is_found(code: str) -> None:
    assert any(_looks_into_text(node) for node in ast.walk(ast.parse(code)))


def test_nothing_looks_into_a_text_that_was_written_for_a_reader() -> None:
    found = [
        f"{file}:{node.lineno}"
        for file, tree in _nodes("judge", "inference", "plan", "timing", "report", "history")
        for node in ast.walk(tree)
        if isinstance(node, ast.expr | ast.pattern) and _looks_into_text(node)
    ]
    assert found == []
