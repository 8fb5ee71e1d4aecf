"""``steelyard workload``: what a study can drive, and files of one's own for further tools."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from steelyard.cli.console import print_notice, say, say_json
from steelyard.cli.ending import with_exit_code
from steelyard.cli.loading import PLAIN
from steelyard.cli.options import JsonOption

if TYPE_CHECKING:
    from steelyard.study.workload.entry import Workload

app = typer.Typer(
    name="workload",
    help="List what a study can drive, show one, check a file of your own.",
    no_args_is_help=True,
    **PLAIN,
)


def list_workloads(json: JsonOption = False) -> None:
    """List the workloads of the catalogue, with what drives them."""
    from steelyard.study import catalogue

    names = catalogue.names("workloads")
    entries = {name: catalogue.workload(name) for name in names}
    if json:
        say_json(
            [
                {"name": name, "driven": _driven(entry), "summary": entry.summary}
                for name, entry in entries.items()
            ]
        )
        return
    width = max(len(name) for name in names)
    for name, entry in entries.items():
        later = "" if entry.runs else " (not in this version)"
        say(f"{name:<{width}}  {_driven(entry):<21}  {entry.summary}{later}")


def _driven(entry: Workload) -> str:
    if entry.is_tool:
        return f"tool on the {entry.on}"
    return "load engine" if entry.load else "nothing"


def show(
    name: Annotated[str, typer.Argument(help="A workload, or a file of your own.")],
    json: JsonOption = False,
) -> None:
    """Show a workload: what it needs, its settings, what it measures."""
    from steelyard.study.lookup import WORKLOAD_FILES
    from steelyard.study.reference import workload_lines

    entry = WORKLOAD_FILES.asked(name, Path.cwd())
    if json:
        say_json({"name": name} | entry.model_dump(mode="json", exclude_defaults=True))
        return
    for line in workload_lines(name, entry):
        say(line)


def check(
    file: Annotated[
        str, typer.Argument(help="The file of a workload, or a name.", show_default=False)
    ],
    output: Annotated[
        list[str] | None,
        typer.Option(
            "--output",
            help="A recorded output, whose numbers are shown: FILE, or SOURCE=FILE for `stderr` "
            "or a name of `writes`; may be repeated.",
        ),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", help="A setting the output was recorded with: NAME=VALUE."),
    ] = None,
) -> None:
    """Check a workload's file: every key, placeholder and pattern; nothing is started."""
    from steelyard.cli.catalogue.workload_output import read_output_lines
    from steelyard.study import catalogue
    from steelyard.study.lookup import WORKLOAD_FILES

    known = file in catalogue.names("workloads")
    entry = catalogue.workload(file) if known else WORKLOAD_FILES.read(Path(file))
    for notice in [] if known else WORKLOAD_FILES.renamed_keys(Path(file)):
        print_notice(notice)
    count, metrics = len(entry.settings), len(entry.metrics)
    say(f"{file}: good; {count} {_noun(count, 'setting')}, {metrics} {_noun(metrics, 'metric')}")
    for line in read_output_lines(file, entry, output or [], settings or []):
        say(line)


def _noun(count: int, noun: str) -> str:
    return noun if count == 1 else f"{noun}s"


app.command("list")(with_exit_code(list_workloads))
app.command("show")(with_exit_code(show))
app.command("check")(with_exit_code(check))
