"""``steelyard service``: the servers that a study can put under test, and files of one's own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from steelyard.cli.console import print_notice, say, say_json
from steelyard.cli.ending import with_exit_code
from steelyard.cli.loading import PLAIN
from steelyard.cli.options import JsonOption
from steelyard.errors import Complaint, StudyError

if TYPE_CHECKING:
    from steelyard.study.service.entry import Service

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
    from steelyard.study.reference import service_lines

    entry = _named(name)
    if json:
        say_json({"name": name} | entry.model_dump(mode="json", exclude_defaults=True))
        return
    for line in service_lines(name, entry):
        say(line)


def _named(name: str) -> Service:
    """The service of the catalogue, or the file, that was asked for.

    Raises:
        StudyError: the file is wrong, or there is no such service.
    """
    from steelyard.study import catalogue
    from steelyard.study.file.complaints import choice_hint
    from steelyard.study.lookup import SERVICE_FILES

    named = SERVICE_FILES.named(name, Path.cwd())
    if named is not None:
        return named[0]
    hint = choice_hint(name, catalogue.names("services"), "services")
    complaint = Complaint(Path(name), 1, 1, "there is no such service or file", hint)
    raise StudyError([complaint], slug="service-file-is-wrong")


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
