"""``steelyard service``: the servers that a study can put under test, and files of one's own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from steelyard.cli.console import print_notice, say, say_json
from steelyard.cli.ending import with_exit_code
from steelyard.cli.loading import PLAIN
from steelyard.cli.options import JsonOption

app = typer.Typer(
    name="service",
    help="List the servers a study can put under test, show one, check a file of your own.",
    no_args_is_help=True,
    **PLAIN,
)


def list_services(json: JsonOption = False) -> None:
    """List the services of the catalogue, with the protocols they speak."""
    from steelyard.study import catalogue

    names = catalogue.names("services")
    if json:
        entries = {name: catalogue.service(name) for name in names}
        say_json(
            [
                {"name": name, "speaks": list(each.speaks), "summary": each.summary}
                for name, each in entries.items()
            ]
        )
        return
    width = max(len(name) for name in names)
    for name in names:
        entry = catalogue.service(name)
        speaks = ", ".join(entry.speaks) or "anything"
        later = "" if entry.runs else " (not in this version)"
        say(f"{name:<{width}}  {speaks:<24}  {entry.summary}{later}")


def show(
    name: Annotated[str, typer.Argument(help="A service, or a file of your own.")],
    json: JsonOption = False,
) -> None:
    """Show a service: what it needs, what limits it, its settings."""
    from steelyard.study.lookup import SERVICE_FILES
    from steelyard.study.reference import service_lines

    entry = SERVICE_FILES.asked(name, Path.cwd())
    if json:
        say_json({"name": name} | entry.model_dump(mode="json", exclude_defaults=True))
        return
    for line in service_lines(name, entry):
        say(line)


def check(
    file: Annotated[Path, typer.Argument(help="The file of a service.", show_default=False)],
) -> None:
    """Check a service's file: every key, placeholder and setting; nothing is started."""
    from steelyard.study.lookup import SERVICE_FILES

    entry = SERVICE_FILES.read(file)
    for notice in SERVICE_FILES.renamed_keys(file):
        print_notice(notice)
    speaks = ", ".join(entry.speaks) or "what its setting `speaks` says"
    count = len(entry.settings)
    say(f"{file}: good; it speaks {speaks} and has {count} setting{'' if count == 1 else 's'}")


app.command("list")(with_exit_code(list_services))
app.command("show")(with_exit_code(show))
app.command("check")(with_exit_code(check))
