"""Commands are loaded when they are called: the list of them costs no statistics."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
import typer

from steelyard.cli.loading import Entry
from steelyard.cli.main import COMMANDS


def said_and_loaded(*arguments: str) -> tuple[int, str, set[str]]:
    """Exit code, stdout, and the modules of a process that ran a command."""
    program = (
        "import sys, atexit\n"
        "from steelyard.cli.entry import main\n"
        "told = lambda: print(*sys.modules, file=sys.stderr)\n"
        "atexit.register(told)\n"
        f"sys.argv = ['steelyard', *{arguments!r}]\n"
        "main()\n"
    )
    environment = {**os.environ, "NO_COLOR": "1", "COLUMNS": "200"}
    ran = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    return ran.returncode, ran.stdout, set(ran.stderr.splitlines()[-1].split())


@pytest.mark.parametrize("arguments", [("--help",), ("--version",), ("init", "--help")])
def test_neither_numpy_nor_charts_are_loaded_for(arguments: tuple[str, ...]) -> None:
    code, said, loaded = said_and_loaded(*arguments)
    assert code == 0
    assert said
    assert not loaded & {"numpy", "scipy", "polars", "altair"}


def test_a_verdict_on_trials_needs_no_more_of_scipy_than_its_special_functions(
    tmp_path: Path,
) -> None:
    order = "abbabaababbabaabababbaab"  # pairs at random: one that repeats itself is refused
    rows = [f"{i},{name},{100 + 40 * (name == 'b') + i % 3}" for i, name in enumerate(order)]
    trials = tmp_path / "trials.csv"
    trials.write_text("\n".join(["order,system,response", *rows]) + "\n")
    code, said, loaded = said_and_loaded(
        "judge", str(trials), "--baseline", "a", "--margin", "2%", "--design", "pairs"
    )
    assert (code, "faster" in said or "better" in said) == (0, True)
    assert "scipy.special" in loaded
    assert not loaded & {"scipy.stats", "scipy.optimize", "scipy.linalg"}


def test_the_list_of_commands_is_complete() -> None:
    _, said, _ = said_and_loaded("--help")
    assert all(name in said for name in COMMANDS)


@pytest.mark.parametrize("entry", COMMANDS.values(), ids=COMMANDS.keys())
def test_the_line_of_a_command_is_what_it_says_of_itself(entry: Entry) -> None:
    module, attribute = entry.place.split(":")
    found = getattr(import_module(f"steelyard.cli.{module}"), attribute)
    own = found.info.help if isinstance(found, typer.Typer) else found.__doc__
    assert own.split("\n\n")[0].split() == entry.help.split()
