"""``steelyard import``: results of another tool as a run that can be reported and compared."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from steelyard.cli.options import (
    RESULTS,
    ClusterOption,
    FailIfOption,
    FormatOption,
    JsonOption,
    ResultsOption,
)


def _kinds(incomplete: str) -> list[str]:
    """For the shell; imported when it asks."""
    from steelyard.imports.kind import names

    return [name for name in ("list", *names()) if name.startswith(incomplete)]


KindArgument = Annotated[
    str,
    typer.Argument(
        help="Which tool wrote the files; `list` shows all.",
        show_default=False,
        autocompletion=_kinds,
    ),
]
FilesArgument = Annotated[
    list[Path] | None, typer.Argument(help="What it wrote.", show_default=False)
]
AsOption = Annotated[
    str | None,
    typer.Option(
        "--as",
        help="`system=A,B`: one system for each file, or names that the files' names hold.",
        show_default=False,
    ),
]
BaselineOption = Annotated[
    str | None, typer.Option(help="The system that the others are compared with; else the first.")
]
MarginOption = Annotated[
    str, typer.Option(help="The smallest difference that matters, fixed before the first trial.")
]
ResponseOption = Annotated[
    str | None, typer.Option(help="Which of its numbers is judged.", show_default=False)
]


def import_(  # noqa: PLR0917 - typer reads options from the parameters
    kind_name: KindArgument,
    files: FilesArgument = None,
    systems: AsOption = None,
    baseline: BaselineOption = None,
    margin: MarginOption = "2%",
    response: ResponseOption = None,
    results: ResultsOption = RESULTS,
    formats: FormatOption = "html",
    fail_if: FailIfOption = None,
    cluster: ClusterOption = None,
    json: JsonOption = False,
) -> int:
    """Read files of other tools (ab, wrk, hyperfine ...) into a run, and judge what they allow."""
    from steelyard.cli.own_numbers.imported import Asked, imported, list_kinds

    if kind_name == "list":
        return list_kinds(json=json)
    asked = Asked(kind_name, tuple(files or ()), systems, baseline, margin, response, cluster)
    return imported(asked, results, formats, fail_if or [], json=json)
