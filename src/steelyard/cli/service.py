"""``steelyard service``: the servers that a study can put under test, and files of one's own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from steelyard.cli.console import say
from steelyard.cli.ending import ends_well
from steelyard.study import catalogue
from steelyard.study.service.own import own_file, read_service
from steelyard.study.service.words import service_lines

app = typer.Typer(
    name="service",
    help="List the servers a study can put under test, show one, check a file of your own.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
)


def list_services() -> None:
    """List the services of the catalogue, with the protocols they speak."""
    names = catalogue.names("services")
    width = max(len(name) for name in names)
    for name in names:
        entry = catalogue.service(name)
        speaks = ", ".join(entry.speaks) or "anything"
        later = "" if entry.runs else " (not in this version)"
        say(f"{name:<{width}}  {speaks:<24}  {entry.summary}{later}")


def show(
    name: Annotated[str, typer.Argument(help="A service, or a file of your own.")],
) -> None:
    """Show a service: what it needs, what limits it, its settings."""
    file = Path(name) if "/" in name else own_file(name, Path.cwd())
    if name in catalogue.names("services"):
        entry = catalogue.service(name)
    else:
        entry = read_service(file or Path(name))
    for line in service_lines(name, entry):
        say(line)


def check(
    file: Annotated[Path, typer.Argument(help="The file of a service.", show_default=False)],
) -> None:
    """Check a service's file: every key, place and setting; nothing is started."""
    entry = read_service(file)
    others = ", ".join(entry.speaks) or "what its setting `speaks` says"
    say(f"{file}: good; it speaks {others} and has {len(entry.settings)} settings")


app.command("list")(ends_well(list_services))
app.command("show")(ends_well(show))
app.command("check")(ends_well(check))
