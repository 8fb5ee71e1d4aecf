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
from steelyard.cli.options import FORMAT_NAMES, FailIf
from steelyard.cli.timing.versus import RESPONSE_NAMES
from steelyard.cli.trace import KERNEL_NAMES
from steelyard.inference.sequential import VerdictWord
from steelyard.judge.analyses.claims.findings import ClaimWord
from steelyard.report.formats.registry import FORMATS
from steelyard.timing.urls import Urls
from steelyard.traces.kernels import KERNELS

ROOT = Path(__file__).parents[2]


def said_and_loaded(*arguments: str, told: str = "*sys.modules") -> tuple[int, str, set[str]]:
    """Exit code, stdout, and the modules, or what else is ``told``, at the end of a command."""
    program = (
        "import gc, sys, atexit\n"
        "from steelyard.cli.entry import main\n"
        f"told = lambda: print({told}, file=sys.stderr)\n"
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


HEAVY = {
    "numpy", "scipy", "polars", "vl_convert", "jinja2", "starlette", "uvicorn",
    "jsonschema", "ruamel.yaml", "rich", "steelyard.study", "steelyard.records.schema",
}  # fmt: skip
"""What help needs nothing of. pydantic is not among them: typer itself reads options by it."""
QUICK = [
    ("--help",),
    ("--version",),
    *((name, "--help") for name, entry in COMMANDS.items() if not entry.settings),
    ("image", "build", "--help"),
    ("platform", "check", "--help"),
    ("service", "check", "--help"),
    ("workload", "check", "--help"),
]


@pytest.mark.parametrize("arguments", QUICK, ids=" ".join)
def test_help_loads_nothing_that_is_slow_to_load(arguments: tuple[str, ...]) -> None:
    code, said, loaded = said_and_loaded(*arguments)
    assert code == 0
    assert said
    assert loaded & HEAVY == set()


def test_a_plan_loads_numbers_at_random_and_yaml_and_no_statistics() -> None:
    code, said, loaded = said_and_loaded("plan", str(ROOT / "studies" / "quickstart"))
    assert (code, bool(said)) == (0, True)
    needed = {"numpy", "ruamel.yaml", "steelyard.study"}
    assert loaded & (HEAVY - needed) == set()
    assert not {name for name in loaded if name.startswith(("steelyard.trial", "steelyard.report"))}


@pytest.mark.parametrize(
    "arguments", [("plan", str(ROOT / "studies" / "quickstart")), ("runs", "--help")], ids=" ".join
)
def test_a_command_that_runs_collects_garbage(arguments: tuple[str, ...]) -> None:
    code, _, told = said_and_loaded(*arguments, told="gc.isenabled()")
    assert (code, told) == (0, {"True"})


def test_words_that_help_names_are_those_of_what_is_slow_to_load() -> None:
    assert tuple(FORMATS) == FORMAT_NAMES
    assert tuple(KERNELS) == KERNEL_NAMES
    assert tuple(each.name for each in Urls.responses) == RESPONSE_NAMES
    verdicts = {word.value for word in VerdictWord}
    assert {word.value for word in FailIf} == verdicts | {ClaimWord.CONTRADICTED.value}


def test_a_verdict_on_trials_needs_nothing_that_only_tests_install(tmp_path: Path) -> None:
    order = "abbabaababbabaabababbaab"  # pairs at random: one that repeats itself is refused
    rows = [f"{i},{name},{100 + 40 * (name == 'b') + i % 3}" for i, name in enumerate(order)]
    trials = tmp_path / "trials.csv"
    trials.write_text("\n".join(["order,system,response", *rows]) + "\n")
    code, said, loaded = said_and_loaded(
        "judge", str(trials), "--baseline", "a", "--margin", "2%", "--design", "pairs"
    )
    assert (code, "faster" in said or "better" in said) == (0, True)
    assert not loaded & {"scipy", "polars", "jsonschema"}


def test_a_report_with_charts_starts_no_engine_of_a_browser(tmp_path: Path) -> None:
    kept = str(ROOT / "tests" / "records" / "v2")
    code, _, loaded = said_and_loaded("report", kept, "--to", str(tmp_path))
    assert code == 0
    assert "<svg" in (tmp_path / "report.html").read_text("utf-8")
    assert not loaded & {"vl_convert", "scipy"}


def test_the_list_of_commands_is_complete() -> None:
    _, said, _ = said_and_loaded("--help")
    assert all(name in said for name in COMMANDS)


def said_of_itself(found: object) -> str:
    """A group that is a command as well says it where that command does."""
    if isinstance(found, typer.Typer):
        callback = found.registered_callback
        return str(callback.callback.__doc__ if callback else found.info.help)
    return str(found.__doc__)


@pytest.mark.parametrize("entry", COMMANDS.values(), ids=COMMANDS.keys())
def test_the_line_of_a_command_is_what_it_says_of_itself(entry: Entry) -> None:
    module, attribute = entry.place.split(":")
    found = getattr(import_module(f"steelyard.cli.{module}"), attribute)
    assert said_of_itself(found).split("\n\n")[0].split() == entry.help.split()
