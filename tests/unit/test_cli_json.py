"""Every command that prints data prints it as JSON, too."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from typer.testing import CliRunner

from steelyard.cli.loading import Command, load
from steelyard.cli.main import COMMANDS, app

WITHOUT = {
    "init": "it writes a study",
    "gate": "findings.json lies in its folder for the report",
    "restore": "it says what it undoes",
    "comment": "it writes Markdown",
    "compare": "`serve` has its JSON",
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


def has_json(command: Command) -> bool:
    return any("--json" in each.opts for each in command.params)


def test_commands_without_json_are_those_that_print_no_data() -> None:
    known = [pair for name, entry in COMMANDS.items() for pair in commands(name, load(name, entry))]
    lacking = {name for name, command in known if not has_json(command)}
    assert lacking - set(WITHOUT) == set()


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
