"""``steelyard platform``: the platforms there are, their files, and whether a new one is right."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import Annotated

import typer

from steelyard.cli.console import print_notice, say, say_json
from steelyard.cli.ending import with_exit_code
from steelyard.cli.loading import PLAIN
from steelyard.cli.options import JsonOption
from steelyard.errors import HostError

app = typer.Typer(
    no_args_is_help=True,
    help="Platforms: list them, show their files, check one of your own.",
    **PLAIN,
)


@app.command("list")
@with_exit_code
def list_platforms(json: JsonOption = False) -> None:
    """Name every platform with what is known of it."""
    from steelyard.study.reference import COLUMNS, support_rows

    if json:
        say_json([dict(zip(COLUMNS, row, strict=True)) for row in support_rows()])
        return
    rows = [COLUMNS, *support_rows()]
    widths = [max(len(row[i]) for row in rows) for i in range(len(COLUMNS))]
    for row in rows:
        say("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


@app.command()
@with_exit_code
def show(
    name: Annotated[str, typer.Argument(help="A platform of the catalogue.", show_default=False)],
    json: JsonOption = False,
) -> None:
    """Print the file of a platform; that of a similar one is a beginning for your own."""
    from steelyard.study import catalogue
    from steelyard.study.file.complaints import choice_hint

    if name not in catalogue.names("platforms"):
        raise HostError(
            f"there is no platform `{name}`",
            hint=choice_hint(name, catalogue.names("platforms"), "platforms"),
            slug="no-such-platform",
        )
    if json:
        entry = catalogue.platform(name)
        say_json({"name": name} | entry.model_dump(mode="json", exclude_defaults=True))
        return
    say(catalogue.text("platforms", name).rstrip("\n"))


@app.command()
@with_exit_code
def check(
    file: Annotated[Path, typer.Argument(help="File of a platform.", show_default=False)],
) -> None:
    """Look whether a platform's file is right; every mistake is named with line and column."""
    from steelyard.study.lookup import PLATFORM_FILES

    platform = PLATFORM_FILES.read(file)
    for notice in PLATFORM_FILES.renamed_keys(file):
        print_notice(notice)
    settings = ", ".join(platform.settings) or "none"
    say(f"{file}: no mistake found; settings: {settings}; resets: {', '.join(platform.resets)}")
    say(
        f"that it reads is no proof that it runs: "
        f"steelyard doctor --platform {quote(str(file))} tries it"
    )
