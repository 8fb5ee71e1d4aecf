"""The page on the study file says every key, setting and response, and its examples read."""

from __future__ import annotations

import re
import types
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel
from tests.unit.study.study_texts import written

from steelyard.study import catalogue
from steelyard.study.declared import responses as declared
from steelyard.study.file.grammar import StudyFile, VariantPart
from steelyard.study.read import read_study

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "reference" / "study-file.md").read_text("utf-8")
EXAMPLES = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
PROSE = re.sub(r"```.*?```", "", PAGE, flags=re.DOTALL)
QUOTED = set(re.findall(r"`([^`]+)`", PROSE))
OWN_PAGES = {
    shelf: ROOT / "docs" / "reference" / f"{shelf}.md" for shelf in ("services", "workloads")
}
SHELVES: dict[catalogue.Shelf, Any] = {
    "workloads": catalogue.workload,
    "platforms": catalogue.platform,
    "services": catalogue.service,
}


def models(annotation: Any) -> Iterator[type[BaseModel]]:
    """Every grammar class that an annotation mentions."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in typing.get_args(annotation):
        if not isinstance(annotation, types.GenericAlias) or argument is not Any:
            yield from models(argument)


def all_keys(part: type[BaseModel], seen: set[type[BaseModel]]) -> Iterator[str]:
    """Every key of the grammar below a part."""
    if part in seen or part is VariantPart or not part.__module__.endswith("grammar"):
        return
    seen.add(part)
    for name, field in part.model_fields.items():
        yield field.alias or name
        for inner in models(field.annotation):
            yield from all_keys(inner, seen)


KEYS = sorted(set(all_keys(StudyFile, set())))


def test_the_grammar_has_the_keys_this_test_looks_for() -> None:
    assert {"study", "margin", "users", "every_level_of", "except", "consolidation"} <= set(KEYS)


@pytest.mark.parametrize("key", KEYS)
def test_every_key_is_in_the_page(key: str) -> None:
    assert any(key in re.findall(r"[\w.]+", quoted) for quoted in QUOTED)


@pytest.mark.parametrize("shelf", SHELVES)
def test_every_entry_and_setting_is_in_the_page(shelf: catalogue.Shelf) -> None:
    page = OWN_PAGES[shelf].read_text("utf-8") if shelf in OWN_PAGES else ""
    quoted = QUOTED | set(re.findall(r"`([^`]+)`", page))
    quoted |= set(re.findall(r"^## (.+)$", page, re.MULTILINE))
    for name in catalogue.names(shelf):
        assert name in quoted
        assert set(SHELVES[shelf](name).settings) <= quoted, name


@pytest.mark.parametrize("response", declared.responses())
def test_every_response_is_in_the_page(response: str) -> None:
    family, _, last = response.rpartition(".")
    place, _, word = family.rpartition(".")
    spelt = f"{place}.{place.rpartition('.')[2].upper()}" if word in QUOTED else family
    named = {f"{family}.*", f"{spelt}.*"} & QUOTED
    assert response in QUOTED or (named and last in QUOTED)


def test_the_variant_of_the_page_reads_as_described(tmp_path: Path) -> None:
    example = next(each for each in EXAMPLES if "quick:" in each)
    study = read_study(written(tmp_path, example), variant="quick")
    assert study.factors == {"load.rate": (100,)}
    assert study.trials.window_s == 1.0


def test_every_entry_of_the_catalogue_reads() -> None:
    for shelf, load in SHELVES.items():
        for name in catalogue.names(shelf):
            assert load(name).summary.endswith(".")
