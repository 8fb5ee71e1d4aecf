"""Files of the catalogue are read as written, though Python keeps what it read."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from steelyard.study.shipped import content_of, shipped, text_of

CATALOGUE = Path(str(shipped("")))
COPIED = ("images", "templates")
"""Folders whose files are copied, or read with their lines as a file of one's own is."""
FILES = [
    file
    for file in sorted(CATALOGUE.rglob("*.yaml"))
    if file.relative_to(CATALOGUE).parts[0] not in COPIED
]


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(CATALOGUE)))
def test_a_file_holds_what_is_written_in_it(file: Path) -> None:
    written = YAML(typ="safe", pure=True).load(text_of(file))
    assert content_of(file) == written
    assert content_of(file) == written  # once it is kept


def test_a_file_that_changed_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    file = tmp_path / "entry.yaml"
    for second, text in enumerate(("one: [1, 2]", "one: off")):
        file.write_text(text)
        os.utime(file, (second, second))
        assert content_of(file) == YAML(typ="safe", pure=True).load(text)
        assert list(tmp_path.rglob("*.pyc"))


def test_what_is_read_belongs_to_the_caller() -> None:
    settings = shipped("settings.yaml")
    content_of(settings).clear()
    assert content_of(settings)
