"""Words, forms and exit codes of the guide to gates are those of the command line."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from steelyard.cli.options import FailIf
from steelyard.errors import ExitCode
from steelyard.report.formats.registry import FORMATS

GUIDE = Path(__file__).parents[2] / "docs" / "guide" / "gate-a-release.md"
TEXT = GUIDE.read_text(encoding="utf-8")


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
