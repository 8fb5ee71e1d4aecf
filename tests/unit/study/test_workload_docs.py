"""docs/reference/workload-file.md says every key and placeholder."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pydantic import BaseModel

from steelyard.study.file.meanings import meanings
from steelyard.study.service.entry import FileText, Step, Texts
from steelyard.study.workload.entry import ToolVersion, Workload
from steelyard.study.workload.metric import Look, Metric, Needed, Refusal, Table
from steelyard.study.workload.placeholders import DRIVEN, GIVEN, SERVED
from steelyard.study.workload.units import STORED

PAGE = (Path(__file__).parents[3] / "docs/reference/workload-file.md").read_text("utf-8")
MODELS: list[type[BaseModel]] = [
    Workload, ToolVersion, Step, FileText, Texts, Look, Metric, Needed, Refusal, Table
]  # fmt: skip
KEYS = [(model, key, meaning) for model in MODELS for key, meaning in meanings(model).items()]


@pytest.mark.parametrize(
    ("model", "key", "meaning"), KEYS, ids=[f"{m.__name__}.{key}" for m, key, _ in KEYS]
)
def test_every_key_has_a_row_with_what_the_model_says_of_it(
    model: type[BaseModel], key: str, meaning: str
) -> None:
    assert meaning
    assert re.search(rf"^\| `{key}` \| {re.escape(meaning.rstrip('.'))}", PAGE, re.MULTILINE)


@pytest.mark.parametrize("place", [*GIVEN, *SERVED, *DRIVEN])
def test_every_place_is_there(place: str) -> None:
    assert f"`{{{place}}}`" in PAGE


@pytest.mark.parametrize("unit", STORED)
def test_every_stored_unit_is_there(unit: str) -> None:
    assert f"`{unit}`" in PAGE.partition("## `scale`")[2]
