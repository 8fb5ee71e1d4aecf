"""Finding the engine, and saying what to do when it is not there."""

from __future__ import annotations

from pathlib import Path

import pytest

import steelyard
from steelyard.engine.locate import check_version, find_engine
from steelyard.errors import EngineError


def executable(path: Path, text: str) -> Path:
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def test_the_named_engine_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mine = executable(tmp_path / "mine", "true")
    monkeypatch.setenv("STEELYARD_ENGINE", str(mine))
    assert find_engine() == mine


def test_a_named_engine_that_is_not_there_is_not_replaced_by_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("STEELYARD_ENGINE", "/nowhere")
    with pytest.raises(EngineError, match=r"\$STEELYARD_ENGINE names /nowhere"):
        find_engine()


def test_a_file_that_cannot_be_run_is_no_engine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = tmp_path / "plain"
    plain.write_text("not a program", encoding="utf-8")
    monkeypatch.setenv("STEELYARD_ENGINE", str(plain))
    with pytest.raises(EngineError):
        find_engine()


def test_the_engine_of_this_package_has_its_version() -> None:
    assert check_version(find_engine()) == steelyard.__version__


@pytest.mark.parametrize("text", ["echo steelyard-engine 9.9.9", "true"])
def test_another_version_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(EngineError) as refused:
        check_version(executable(tmp_path / "other", text))
    assert refused.value.slug == "engine-of-another-version"


def test_an_engine_that_fails_is_said_to_fail(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="does not answer to --version"):
        check_version(executable(tmp_path / "broken", "exit 1"))
