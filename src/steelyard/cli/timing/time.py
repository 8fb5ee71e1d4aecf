"""``steelyard time``: commands against each other."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from steelyard.cli.run import FailIfOption
from steelyard.cli.timing.outcome import (
    BudgetOption,
    ExportCsvOption,
    ExportJsonOption,
    ExportMarkdownOption,
    ExportTrialsOption,
    JsonOption,
    MarginOption,
    QuietOption,
    SeedOption,
    VerboseOption,
    Wanted,
    compare,
    declared,
)
from steelyard.records.timing import Quantity
from steelyard.timing.commands import MEMORY, SYSTEM, USER, WALL, Beside, Command, Commands
from steelyard.timing.execution import Shell, Streams

_RESPONSES = (WALL, USER, SYSTEM, MEMORY)
_PRINTED = "printed"

CommandsArgument = Annotated[
    list[str],
    typer.Argument(metavar="COMMAND...", help="Command lines; the first is the baseline."),
]
NamesOption = Annotated[
    list[str] | None,
    typer.Option(
        "--command-name", "-n", help="Name of a command, in their order; may be repeated."
    ),
]
ParameterOption = Annotated[
    list[str] | None,
    typer.Option(
        "--parameter-list",
        "-L",
        metavar="NAME=VALUES",
        help="A command for each of these comma-separated values, in place of `{NAME}`.",
    ),
]
ShellOption = Annotated[
    str,
    typer.Option(
        "--shell",
        "-S",
        help="Program that interprets the commands, or `none`. By default `/bin/sh` for those "
        "that hold anything a shell would interpret.",
    ),
]
NoShellOption = Annotated[bool, typer.Option("-N", help="The same as --shell=none.")]
WarmupOption = Annotated[
    int, typer.Option("--warmup", "-w", min=0, help="Executions of each before the first visit.")
]
SetupOption = Annotated[str, typer.Option("--setup", "-s", help="Run once before a command.")]
PrepareOption = Annotated[
    str, typer.Option("--prepare", "-p", help="Run before each execution, not measured.")
]
ConcludeOption = Annotated[
    str, typer.Option("--conclude", "-C", help="Run after each execution, not measured.")
]
CleanupOption = Annotated[str, typer.Option("--cleanup", "-c", help="Run once after a command.")]
IgnoreOption = Annotated[
    bool, typer.Option("--ignore-failure", "-i", help="Count executions that fail.")
]
InputOption = Annotated[
    Path | None,
    typer.Option("--input", help="File for standard input.", exists=True, dir_okay=False),
]
OutputOption = Annotated[
    bool, typer.Option("--show-output", help="Show what commands print, on standard error.")
]
ResponseOption = Annotated[
    str,
    typer.Option(
        "--response", help="What is judged: wall, user, system, memory, or printed (--number)."
    ),
]
NumberOption = Annotated[
    str | None,
    typer.Option(
        "--number",
        help="Expression with one group that finds a number in the output; it is what is judged.",
    ),
]
NumberUnitOption = Annotated[str, typer.Option("--number-unit", help="Its unit, as `ms`.")]
NumberDirectionOption = Annotated[
    bool, typer.Option("--number-higher/--number-lower", help="Which numbers are better.")
]


def time(  # noqa: PLR0917 - typer reads options from the parameters
    commands: CommandsArgument,
    names: NamesOption = None,
    parameters: ParameterOption = None,
    margin: MarginOption = "2%",
    budget: BudgetOption = None,
    warmup: WarmupOption = 0,
    setup: SetupOption = "",
    prepare: PrepareOption = "",
    conclude: ConcludeOption = "",
    cleanup: CleanupOption = "",
    shell: ShellOption = "default",
    no_shell: NoShellOption = False,
    ignore_failure: IgnoreOption = False,
    input_file: InputOption = None,
    show_output: OutputOption = False,
    response: ResponseOption = "wall",
    number: NumberOption = None,
    number_unit: NumberUnitOption = "",
    number_higher: NumberDirectionOption = False,
    seed: SeedOption = None,
    export_json: ExportJsonOption = None,
    export_csv: ExportCsvOption = None,
    export_md: ExportMarkdownOption = None,
    export_trials: ExportTrialsOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
    fail_if: FailIfOption = None,
) -> int:
    """Time commands against each other: `steelyard time 'A' 'B'`; no file is needed."""
    printed = _printed(number, number_unit, higher=number_higher)
    streams = Streams(input_file, show_output, re.compile(number) if number else None)
    beside = Beside(setup, prepare, conclude, cleanup)
    asked = "none" if no_shell else shell
    built = [
        Command(
            name,
            line,
            Shell.chosen(asked, line),
            _filled(beside, values),
            streams,
            None if ignore_failure else frozenset(),
        )
        for name, line, values in _lines(commands, names or [], parameters or [])
    ]
    wanted = Wanted.of(
        exports=(export_json, export_csv, export_md, export_trials),
        json=as_json,
        quiet=quiet,
        verbose=verbose,
        fail_if=fail_if,
    )
    primary = _primary(response if number is None else _PRINTED, printed)
    declaration = declared(primary, margin, budget, seed, warmup)
    shell_s = next((s for each in built if (s := each.shell.start_s()) is not None), None)
    return compare(Commands(built, printed), declaration, shell_s, wanted)


def _lines(
    commands: list[str], names: list[str], parameters: list[str]
) -> Iterator[tuple[str, str, dict[str, str]]]:
    """Name, command line and values of the parameters of each subject; no name comes twice."""
    grid = [_levels(parameter) for parameter in parameters]
    filled = [
        (_fill(command, dict(values)), dict(values))
        for command in commands
        for values in itertools.product(*grid)
    ]
    if len(filled) < 2:
        raise typer.BadParameter(
            "a comparison needs two commands, or a list of values", param_hint="COMMAND"
        )
    if names and len(names) != len(filled):
        raise typer.BadParameter(
            f"{len(names)} names for {len(filled)} commands", param_hint="--command-name"
        )
    given = names or [line.strip() for line, _ in filled]
    for index, (name, (line, values)) in enumerate(zip(given, filled, strict=True)):
        before = given[:index].count(name)
        yield f"{name} #{before + 1}" if before else name, line, values


def _levels(parameter: str) -> list[tuple[str, str]]:
    name, separator, values = parameter.partition("=")
    if not (name and separator and values):
        raise typer.BadParameter(
            f"{parameter!r} is not NAME=VALUE,VALUE", param_hint="--parameter-list"
        )
    return [(name, value) for value in values.split(",")]


def _fill(line: str, values: dict[str, str]) -> str:
    for key, value in values.items():
        line = line.replace(f"{{{key}}}", value)
    return line


def _filled(beside: Beside, values: dict[str, str]) -> Beside:
    lines = (beside.setup, beside.prepare, beside.conclude, beside.cleanup)
    return Beside(*(_fill(line, values) for line in lines))


def _printed(number: str | None, unit: str, *, higher: bool) -> Quantity | None:
    if number is None:
        return None
    try:
        groups = re.compile(number).groups
    except re.error as error:
        raise typer.BadParameter(f"{error}", param_hint="--number") from error
    if groups != 1:
        raise typer.BadParameter(
            f"it has {groups} groups; one is needed, around the digits", param_hint="--number"
        )
    return Quantity(_PRINTED, "printed number", unit, "higher" if higher else "lower")


def _primary(response: str, printed: Quantity | None) -> str:
    known = [each.name for each in (*_RESPONSES, *([printed] if printed else ()))]
    if response not in known:
        raise typer.BadParameter(
            f"{response!r} is none of {', '.join(known)}", param_hint="--response"
        )
    return response
