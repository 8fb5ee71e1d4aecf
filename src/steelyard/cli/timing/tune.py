"""``steelyard tune``: which of many values of parameters is the best for a command."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from steelyard.cli.options import with_fields_of
from steelyard.cli.timing.options import ConcludeOption, PrepareOption, Searched

CommandArgument = Annotated[
    str, typer.Argument(metavar="COMMAND", help="Command line with the parameters as {NAME}.")
]
ParameterOption = Annotated[
    list[str] | None,
    typer.Option(
        "--parameter-list",
        "-L",
        metavar="NAME=VALUES",
        help="Comma-separated values of a parameter; several lists make every combination.",
    ),
]
CandidatesOption = Annotated[
    Path | None,
    typer.Option(
        "--candidates",
        metavar="FILE",
        help="CSV file: names of parameters, then a row for each candidate.",
    ),
]
ProfilesOption = Annotated[
    Path | None,
    typer.Option(
        "--profiles",
        metavar="FOLDER",
        help="Values of {profile}: every profile of tuned in this folder.",
    ),
]
BaselineOption = Annotated[
    str | None, typer.Option("--baseline", help="Candidate that is in use today; the first.")
]
SetupOption = Annotated[
    str,
    typer.Option(
        "--setup", "-s", help="Run once before a candidate; where it fails, that one is left out."
    ),
]
CleanupOption = Annotated[
    str, typer.Option("--cleanup", "-c", help="Run once for each candidate, after everything.")
]
VisitsOption = Annotated[
    Path | None,
    typer.Option(
        "--visits",
        metavar="FILE",
        help="Keep every visit in this file; with one of an interrupted search, go on from it.",
    ),
]


@with_fields_of(Searched)
def tune(  # noqa: PLR0917 - typer reads options from the parameters
    command: CommandArgument,
    parameters: ParameterOption = None,
    file: CandidatesOption = None,
    profiles: ProfilesOption = None,
    baseline: BaselineOption = None,
    setup: SetupOption = "",
    prepare: PrepareOption = "",
    conclude: ConcludeOption = "",
    cleanup: CleanupOption = "",
    visits: VisitsOption = None,
    *,
    shared: Searched,
) -> int:
    """Find the best of many values of parameters for a command."""
    from steelyard.cli.timing.candidates import baseline_of, candidates_of
    from steelyard.cli.timing.tuning import Lines, searched
    from steelyard.timing.commands import Beside

    lines = Lines(command, Beside(setup, prepare, conclude, cleanup))
    found = candidates_of(parameters or [], file, profiles, (command, setup, prepare))
    return searched(lines, found, baseline_of(found, baseline), visits, shared)
