"""``steelyard bisect``: which commit, kernel or version changed what a command takes."""

from __future__ import annotations

from typing import Annotated

import typer

from steelyard.cli.options import with_fields_of
from steelyard.cli.timing.options import PrepareOption, Searched

CommandArgument = Annotated[
    str, typer.Argument(metavar="COMMAND", help="Command line with {level}, or {folder} of --git.")
]
LevelsOption = Annotated[
    str | None,
    typer.Option("--levels", help="Values in their order, comma-separated: v1,v2,v3."),
]
GitOption = Annotated[
    str | None,
    typer.Option("--git", metavar="RANGE", help="Commits as levels, each in a worktree {folder}."),
]
GoodOption = Annotated[str | None, typer.Option("--good", help="Level to begin at; the first.")]
BadOption = Annotated[str | None, typer.Option("--bad", help="Level to end at; the last.")]
SetupOption = Annotated[
    str,
    typer.Option(
        "--setup", "-s", help="Run once before a level is measured; where it fails, it is skipped."
    ),
]


@with_fields_of(Searched)
def bisect(  # noqa: PLR0917 - typer reads options from the parameters
    command: CommandArgument,
    levels: LevelsOption = None,
    git: GitOption = None,
    good: GoodOption = None,
    bad: BadOption = None,
    setup: SetupOption = "",
    prepare: PrepareOption = "",
    *,
    shared: Searched,
) -> int:
    """Find the commit, kernel or version that changed what a command takes."""
    from steelyard.cli.timing.bisecting import Lines, searched

    if (levels is None) == (git is None):
        raise typer.BadParameter("give either --levels or --git", param_hint="--levels")
    return searched(Lines(command, setup, prepare), levels, git, (good, bad), shared)
