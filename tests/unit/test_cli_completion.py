"""Shells get a script, and from it the names of commands, kinds and questions."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from steelyard.cli.main import COMMANDS, app


def completed(shell: str, line: str) -> set[str]:
    asked = {"_STEELYARD_COMPLETE": f"complete_{shell}"}
    words = {"COMP_WORDS": line, "COMP_CWORD": str(len(line.split(" ")) - 1)}
    words |= {"_TYPER_COMPLETE_ARGS": line, "_TYPER_COMPLETE_FISH_ACTION": "get-args"}
    result = CliRunner().invoke(app, [], env=asked | words, prog_name="steelyard")
    return set(result.stdout.split())


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_script_is_made_for_each_shell(shell: str) -> None:
    asked = {"_STEELYARD_COMPLETE": f"source_{shell}"}
    script = CliRunner().invoke(app, [], env=asked, prog_name="steelyard").stdout
    assert f"complete_{shell}" in script


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("steelyard ", {"run", "import", "init"} & set(COMMANDS)),
        ("steelyard ver", {"versus"}),
        ("steelyard import hyper", {"hyperfine"}),
        ("steelyard import mm", {"mmtests"}),
        ("steelyard init w", {"web"}),
        ("steelyard service sh", {"show"}),
    ],
)
def test_what_is_begun_is_completed(line: str, names: set[str]) -> None:
    assert names <= completed("bash", line)
