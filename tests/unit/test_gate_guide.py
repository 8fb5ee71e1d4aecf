"""The commands of the guide to gates run as they stand."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from ruamel.yaml import YAML
from typer.testing import CliRunner

from steelyard.cli.exit_codes import ExitCode
from steelyard.cli.main import app
from steelyard.cli.run import FailIf
from steelyard.report.formats.registry import FORMATS

GUIDE = Path(__file__).parents[2] / "docs" / "guide" / "gate-a-release.md"
TEXT = GUIDE.read_text(encoding="utf-8")
BLOCKS = re.findall(r"```yaml\n(.*?)```", TEXT, re.DOTALL)


@pytest.mark.parametrize("word", sorted(set(re.findall(r"--fail-if (\w+)", TEXT))))
def test_every_word_that_may_fail_a_job_is_one(word: str) -> None:
    assert word in {each.value for each in FailIf}


def test_every_format_in_a_job_is_one() -> None:
    named = {name for row in re.findall(r"--format ([\w,]+)", TEXT) for name in row.split(",")}
    assert "junit" in named
    assert named <= set(FORMATS)
    assert f"report/{FORMATS['junit'].file}" in TEXT


def test_every_exit_code_is_explained_to_the_pipeline() -> None:
    rows = {int(code) for code in re.findall(r"^\| (\d+) \|", TEXT, re.MULTILINE)}
    assert rows == {code.value for code in ExitCode}


@pytest.mark.parametrize("block", BLOCKS, ids=lambda text: text.split(":")[0])
def test_every_block_of_the_guide_is_yaml(block: str) -> None:
    assert isinstance(YAML(typ="safe", pure=True).load(block), dict)


def test_the_service_of_the_guide_is_good(tmp_path: Path) -> None:
    [service] = [block for block in BLOCKS if block.startswith("summary:")]
    path = tmp_path / "service.yaml"
    path.write_text(service, encoding="utf-8")
    checked = CliRunner().invoke(app, ["service", "check", str(path)])
    assert checked.exit_code == 0, checked.output
