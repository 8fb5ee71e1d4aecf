"""Whatever bytes a study file holds, an author gets complaints and never a crash."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard.errors import StudyError
from steelyard.study.file.source import parse_source
from steelyard.study.model import Study
from steelyard.study.read import read_study_bytes

EXAMPLES = sorted((Path(__file__).parents[1] / "cases" / "study" / "examples").glob("*.yaml"))
TREES = [parse_source(path.read_bytes(), path).tree for path in EXAMPLES]
WORDS = ["", "off", "1..3", "2 %", "5 s", "x", "at most 1 %", "*", "none"]
OTHERS: list[Any] = [None, True, False, 0, -1, 3.5, 10**30, [], [[1]], [1, "x"]]
MAPPINGS: list[Any] = [{}, {"a": {"b": None}}, {"use": "http"}]
ODD = st.sampled_from([*WORDS, *OTHERS, *MAPPINGS])


def read(raw: bytes) -> Study | StudyError:
    """The study, or what is wrong with it."""
    try:
        return read_study_bytes(raw, Path("study.yaml"))
    except StudyError as error:
        return error


def places(tree: Any, above: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place in a tree of values."""
    inside: Iterable[tuple[Any, Any]] = tree.items() if isinstance(tree, dict) else ()
    inside = enumerate(tree) if isinstance(tree, list) else inside
    found = [above] if above else []
    for key, value in inside:
        found += places(value, (*above, key))
    return found


@settings(max_examples=200, deadline=None)
@given(raw=st.binary(max_size=200))
def test_any_bytes_are_answered(raw: bytes) -> None:
    answer = read(raw)
    assert isinstance(answer, StudyError)
    assert answer.complaints


@settings(max_examples=200, deadline=None)
@given(text=st.text(alphabet="ab:-{}[]\"'#&*!|> \n\t%@,?1.", max_size=80))
def test_any_text_of_yaml_characters_is_answered(text: str) -> None:
    assert isinstance(read(text.encode()), StudyError)


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_an_odd_value_anywhere_is_read_or_complained_about(data: st.DataObject) -> None:
    tree = copy.deepcopy(data.draw(st.sampled_from(TREES)))
    where = data.draw(st.sampled_from(places(tree)))
    part: Any = tree
    for key in where[:-1]:
        part = part[key]
    part[where[-1]] = data.draw(ODD)
    answer = read(json.dumps(tree).encode())
    if isinstance(answer, StudyError):
        assert all(c.line >= 1 and c.column >= 1 and c.hint for c in answer.complaints)


@settings(max_examples=100, deadline=None)
@given(data=st.data())
def test_a_part_taken_out_is_read_or_complained_about(data: st.DataObject) -> None:
    tree = copy.deepcopy(data.draw(st.sampled_from(TREES)))
    where = data.draw(st.sampled_from(places(tree)))
    part: Any = tree
    for key in where[:-1]:
        part = part[key]
    del part[where[-1]]
    answer = read(json.dumps(tree).encode())
    assert isinstance(answer, Study) or answer.complaints
