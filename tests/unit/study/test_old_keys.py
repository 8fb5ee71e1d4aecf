"""A key with a new name is read under the old one, with a notice: line, column and new name."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

from steelyard.cli.main import app
from steelyard.study.file.grammar import StudyFile
from steelyard.study.file.old_keys import EVERY, RENAMED
from steelyard.study.read import read_study, renamed_keys

PAGE = Path(__file__).parents[3] / "docs/reference/study-file.md"
OLD = """\
study: old-keys
question: Are they read?
defaults: {carrier: local}
systems:
  a: {platform: podman, instances: 2, carrier: local, service: {use: sink-http}}
  b: {platform: podman, instances: 2, service: {use: sink-http}}
workload: {use: http}
beside: {2: {use: idle}}
probe: {use: http, every: 100 ms}
responses: {throughput: {}, response.p99: {}}
judge: {guards: {response.p99: 10 %}}
trials: {margin: 5 %, warm_up: 1 s, canary: 200 ms, dummy: true, budget: {time: 3 h}}
variants:
  small: {trials: {warm_up: 100 ms}}
"""
NEW = OLD
for path, new in RENAMED.items():
    NEW = re.sub(rf"\b{path[-1]}:", f"{new}:", NEW)


def written(folder: Path, text: str) -> Path:
    file = folder / "study.yaml"
    file.write_text(text, encoding="utf-8")
    return file


@pytest.mark.parametrize("variant", [None, "small"])
def test_a_study_with_old_keys_is_the_study_with_the_new_ones(
    tmp_path: Path, variant: str | None
) -> None:
    old = read_study(written(tmp_path, OLD), variant=variant)
    new = read_study(written(tmp_path, NEW), variant=variant)
    assert old.model_copy(update={"sha256": new.sha256}) == new
    assert renamed_keys(tmp_path) == []


@pytest.mark.parametrize(("path", "new"), RENAMED.items(), ids=".".join)
def test_every_old_key_has_a_notice_with_its_place_and_its_new_name(
    tmp_path: Path, path: tuple[str, ...], new: str
) -> None:
    file = written(tmp_path, OLD)
    notices = [n for n in renamed_keys(file) if f"`{path[-1]}` is now `{new}`" in n.message]
    lines = OLD.splitlines()
    assert notices
    assert all(lines[n.line - 1][n.column - 1 :].startswith(f"{path[-1]}:") for n in notices)


def test_an_old_key_in_a_variant_has_a_notice_too(tmp_path: Path) -> None:
    assert [n.line for n in renamed_keys(written(tmp_path, OLD)) if "warm_up" in n.message] == [
        12,
        14,
    ]


def test_an_old_key_beside_the_new_one_is_an_unknown_key(tmp_path: Path) -> None:
    file = written(tmp_path, NEW.replace("warmup: 1 s", "warmup: 1 s, warm_up: 2 s"))
    assert renamed_keys(file) == []
    assert "unknown key `warm_up`" in plan(file).stderr


def test_the_notices_are_printed_on_stderr_and_the_plan_on_stdout(tmp_path: Path) -> None:
    result = plan(written(tmp_path, OLD))
    assert result.exit_code == 0, result.stderr
    assert "study.yaml:12:23: `warm_up` is now `warmup`" in result.stderr
    assert "is now" not in result.stdout


def test_every_old_key_is_in_the_page_and_no_key_of_the_grammar(tmp_path: Path) -> None:
    section = PAGE.read_text("utf-8").partition("## Renamed keys")[2].partition("\n## ")[0]
    for path, new in RENAMED.items():
        assert f"{path[-1]}" in section
        assert f"| `{new}` |" in section
    assert not {path[0] for path in RENAMED if len(path) == 1} & set(StudyFile.model_fields)
    assert all(EVERY not in path[-1] for path in RENAMED)


def plan(file: Path) -> Result:
    return CliRunner().invoke(app, ["plan", str(file)])
