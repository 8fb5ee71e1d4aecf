"""docs/reference/platform-file.md says every key, placeholder and unit."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pydantic import BaseModel

from steelyard.study.catalogue import Platform
from steelyard.study.declared.placeholders import UNITS
from steelyard.study.declared.setting import Setting
from steelyard.study.file.meanings import meanings
from steelyard.study.platform import entry, placeholders

PAGE = (Path(__file__).parents[3] / "docs/reference/platform-file.md").read_text("utf-8")
MODELS: list[type[BaseModel]] = [
    Platform,
    entry.Commands,
    entry.Command,
    entry.Step,
    entry.Reading,
    entry.Exists,
    entry.Inside,
    entry.ResetCommands,
    entry.Proof,
    entry.WrittenFile,
    entry.CostsRead,
    entry.FailureRule,
]
KEYS = [(model, key, meaning) for model in MODELS for key, meaning in meanings(model).items()]


@pytest.mark.parametrize(
    ("model", "key", "meaning"), KEYS, ids=[f"{m.__name__}.{key}" for m, key, _ in KEYS]
)
def test_every_key_has_a_row_with_what_the_model_says_of_it(
    model: type[BaseModel], key: str, meaning: str
) -> None:
    assert meaning
    assert re.search(rf"^\| `{key}` \| {re.escape(meaning.rstrip('.'))}", PAGE, re.MULTILINE)


def test_every_place_and_unit_is_there() -> None:
    known = [
        *placeholders.ALWAYS,
        *placeholders.DISK,
        *placeholders.ENTERING,
        *placeholders.CARRYING,
    ]
    assert [place for place in known if f"`{{{place}}}`" not in PAGE] == []
    assert [unit for unit in UNITS if f"`{unit}`" not in PAGE] == []


def test_every_key_of_a_setting_that_a_platform_may_write_is_there() -> None:
    of_others = {"option", "options", "settings", "off", "holds_placeholders"}
    keys = set(Setting.model_fields) - of_others
    assert [key for key in keys if f"`{key}" not in PAGE] == []


def test_every_default_deadline_is_there() -> None:
    for verb, deadline_s in entry.DEADLINES_S.items():
        assert re.search(rf"`{verb}`\s+{deadline_s:.0f}\b", PAGE), verb
