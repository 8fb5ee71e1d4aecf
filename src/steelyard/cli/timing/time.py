"""``steelyard time``: commands against each other."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from steelyard.cli.options import with_fields_of
from steelyard.cli.timing.options import ConcludeOption, PrepareOption, Shared

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
    str | None,
    typer.Option(
        "--response",
        help="What is judged: wall, user, system, memory, or printed.  "
        "[default: printed with --number, else wall]",
    ),
]
NumberOption = Annotated[
    str | None,
    typer.Option(
        "--number",
        help="Expression with one group that finds a number in the output: `printed`.",
    ),
]
NumberUnitOption = Annotated[str, typer.Option("--number-unit", help="Its unit, as `ms`.")]
NumberDirectionOption = Annotated[
    bool, typer.Option("--number-higher/--number-lower", help="Which numbers are better.")
]


@with_fields_of(Shared)
def time(  # noqa: PLR0917 - typer reads options from the parameters
    commands: CommandsArgument,
    names: NamesOption = None,
    parameters: ParameterOption = None,
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
    response: ResponseOption = None,
    number: NumberOption = None,
    number_unit: NumberUnitOption = "",
    number_higher: NumberDirectionOption = False,
    *,
    shared: Shared,
) -> int:
    """Time commands against each other: `steelyard time 'A' 'B'`; no file is needed."""
    from steelyard.cli.timing.command_lines import Found, lines_of, primary_of, refuse_unused
    from steelyard.cli.timing.outcome import Wanted, compare, declared
    from steelyard.timing.commands import Beside, Command, Commands
    from steelyard.timing.execution import Shell, Streams

    refuse_unused(parameters or [], (*commands, setup, prepare, conclude, cleanup))
    found = Found.of(number, number_unit, higher=number_higher)
    streams = Streams(input_file, show_output, found.expression)
    beside = Beside(setup, prepare, conclude, cleanup)
    asked = "none" if no_shell else shell
    ignored = None if ignore_failure else frozenset[int]()
    declaration = declared(primary_of(response, found.quantity), shared, warmup)
    built = [
        Command(
            each.name,
            each.line,
            Shell.chosen(asked, each.line),
            each.filled(beside),
            streams,
            ignored,
            declaration.budget_s if declaration.is_given else None,
        )
        for each in lines_of(commands, names or [], parameters or [])
    ]
    wanted = Wanted.of(shared)
    shell_s = next((s for each in built if (s := each.shell.start_s()) is not None), None)
    return compare(Commands(built, found.quantity), declaration, shell_s, wanted)
