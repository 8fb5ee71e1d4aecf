"""`steelyard doctor --platform` answers what was typed wrong before it touches anything."""

from __future__ import annotations

import re

import pytest
from typer.testing import CliRunner

from steelyard.cli.main import app


def said(*arguments: str) -> str:
    ended = CliRunner().invoke(app, ["doctor", *arguments], env={"COLUMNS": "200"})
    assert ended.exit_code == 2
    return re.sub(r"[\s│]+", " ", ended.stderr)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--platform", "podmen"], "did you mean `podman`"),
        (["--platform", "podman", "--set", "cpu=1"], "did you mean `cpus`"),
        (["--platform", "podman", "--set", "cpus=0"], "too small"),
        (["--platform", "podman", "--set", "memory=much"], "much"),
        (["--platform", "podman", "--set", "storage=tape"], "not one of the choices"),
        (["--platform", "ssh"], "needs --set host="),
        (["--set", "cpus=1"], "belong to --platform"),
    ],
)
def test_a_mistake_is_answered_with_what_to_do(arguments: list[str], words: str) -> None:
    assert words in said(*arguments)
