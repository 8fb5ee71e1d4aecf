"""Every command that prints data prints it as JSON, too."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from steelyard.cli.loading import Command, load
from steelyard.cli.main import COMMANDS, app
from steelyard.errors import ExitCode

WITHOUT = {
    "init": "it writes a study",
    "schema": "a schema is JSON",
    "comment": "it writes Markdown",
    "serve": "its pages have JSON",
    "trace": "it writes a recording",
    "load": "an option of the engine",
    "sink": "an option of the engine",
    "kernel": "an option of the engine",
    "image build": "it prints a path",
    "image show": "it prints a file",
    "platform check": "it says whether a file is right",
    "service check": "it says whether a file is right",
    "workload check": "it says whether a file is right",
    "publish": "it prints a path",
}
GROUPS = ("image", "platform", "service", "workload")


def commands(name: str, command: Command) -> Iterator[tuple[str, Command]]:
    own = getattr(command, "commands", {})
    if name not in GROUPS:
        yield name, command
    for each, inner in own.items():
        yield from commands(f"{name} {each}", inner)


def known() -> Iterator[tuple[str, Command]]:
    for name, entry in COMMANDS.items():
        yield from commands(name, load(name, entry))


def lacking(option: str) -> set[str]:
    return {
        name for name, command in known() if not any(option in each.opts for each in command.params)
    }


def test_commands_without_json_are_those_that_print_no_data() -> None:
    assert lacking("--json") == set(WITHOUT)


def test_every_command_but_those_of_the_engine_can_be_quiet() -> None:
    assert lacking("--quiet") == {"load", "sink", "kernel"}


@pytest.mark.parametrize("option", ["--quiet", "-q"])
def test_a_quiet_command_prints_errors_alone(option: str, tmp_path: Path) -> None:
    target = str(tmp_path / "study.yaml")
    runner = CliRunner()
    assert "next: steelyard plan" in runner.invoke(app, ["init", target]).stderr
    refused = runner.invoke(app, ["init", target, option])
    assert refused.exit_code == ExitCode.OPERATOR
    assert "is there already" in refused.stderr
    done = runner.invoke(app, ["init", str(tmp_path / "other.yaml"), option])
    assert (done.exit_code, done.output) == (0, "")


@pytest.mark.parametrize(
    "words", ["service list", "workload list", "platform list", "image list", "import list"]
)
def test_a_list_is_the_same_as_json(words: str) -> None:
    lines, document = (
        CliRunner().invoke(app, [*words.split(), *further]).stdout for further in ([], ["--json"])
    )
    rows = json.loads(document)
    heads = 1 if words == "platform list" else 0
    assert len(rows) == len(lines.splitlines()) - heads
    assert all(next(iter(row.values())) in lines for row in rows)


@pytest.mark.parametrize("words", ["service nginx", "workload fio", "platform docker"])
def test_an_entry_is_shown_as_json(words: str) -> None:
    kind, name = words.split()
    shown = json.loads(CliRunner().invoke(app, [kind, "show", name, "--json"]).stdout)
    assert shown["name"] == name
    assert shown["summary"]
