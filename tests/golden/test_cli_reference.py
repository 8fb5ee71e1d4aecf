"""docs/reference/cli.md is what the commands say of themselves."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner

from steelyard.cli.loading import load
from steelyard.cli.main import COMMANDS, app
from steelyard.engine.locate import find_engine

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "cli.md"
WIDTH = "90"
OF_THE_ENGINE = {
    "load": ["load"],
    "sink": ["sink"],
    "kernel": ["kernel", "kernel linpack", "kernel ram", "kernel reference"],
}
INTRODUCTION = """\
# Command line

stdout is data, stderr is everything else. `NO_COLOR` is respected. Exit codes:
[exit-codes.md](exit-codes.md). This page is made from the commands themselves
(`make golden-accept`).
"""


def command_names() -> list[str]:
    return list(COMMANDS)


def with_its_own(name: str) -> list[str]:
    """A command and those of its group, where it has some."""
    command = load(name, COMMANDS[name])
    return [name, *(f"{name} {own}" for own in getattr(command, "commands", ()))]


def help_of(name: str) -> str:
    text = "\n".join(map(engine_help, OF_THE_ENGINE.get(name, []))) or "\n".join(
        map(laboratory_help, with_its_own(name))
    )
    lines = (line.rstrip() for line in text.splitlines())
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


def laboratory_help(name: str) -> str:
    environment = {"COLUMNS": WIDTH, "NO_COLOR": "1", "TERM": "dumb"}
    result = CliRunner().invoke(
        app, [*name.split(), "--help"], env=environment, prog_name="steelyard"
    )
    assert result.exit_code == 0
    return result.output


def engine_help(name: str) -> str:
    environment = {**os.environ, "COLUMNS": WIDTH}
    command = [str(find_engine()), *name.split(), "--help"]
    return subprocess.run(
        command, capture_output=True, text=True, check=True, env=environment
    ).stdout


def page() -> str:
    parts = [INTRODUCTION]
    parts += [f"\n## {name}\n\n```\n{help_of(name)}\n```\n" for name in command_names()]
    return "".join(parts)


def test_the_page_is_what_the_commands_say() -> None:
    seen = page()
    if os.environ.get("STEELYARD_ACCEPT"):
        PAGE.write_text(seen, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == seen


@pytest.mark.parametrize("name", command_names())
def test_every_command_says_what_it_is_for_and_is_in_the_readme(name: str) -> None:
    readme = (PAGE.parents[2] / "README.md").read_text(encoding="utf-8")
    assert f"`steelyard {name}" in readme
    assert len(help_of(name).splitlines()) > 5
