"""``steelyard query``: SQL over the runs of results folders."""

from __future__ import annotations

import csv
import json as jsons
import math
import sys
from pathlib import Path
from typing import Annotated

import typer

from steelyard.cli.options import RESULTS

MEMORY = "512MiB"


def query(
    sql: Annotated[str, typer.Argument(help="One SELECT, in DuckDB's SQL.", show_default=False)],
    archives: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[[NAME=]FOLDER]...",
            help="Results folders, each with the name that the column origin has for it; without a "
            "name that of the folder.  [default: results]",
            show_default=False,
        ),
    ] = None,
    json: Annotated[
        bool, typer.Option("--json", help="Print a JSON object a row in place of CSV.")
    ] = False,
    memory: Annotated[
        str, typer.Option("--memory", help="The most memory that the query may take.")
    ] = MEMORY,
) -> None:
    """Ask the records of many runs in SQL; nothing is changed."""
    from steelyard.cli.console import say, shown, warn
    from steelyard.query.archive import asked

    origins = _origins(archives or [str(RESULTS)])
    with asked(
        sql,
        origins,
        lambda run, error: warn(f"skipped: {shown(run.path)}: {error.message}"),
        memory,
    ) as answer:
        if json:
            for row in answer.rows():
                document = _finite(dict(zip(answer.columns, row, strict=True)))
                say(jsons.dumps(document, default=str, ensure_ascii=False, allow_nan=False))
            return
        written = csv.writer(sys.stdout, lineterminator="\n")
        written.writerow(answer.columns)
        written.writerows(answer.rows())


def _finite(value: object) -> object:
    """The same with ``None`` for what JSON has no number for."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): _finite(each) for key, each in value.items()}
    return [_finite(each) for each in value] if isinstance(value, list | tuple) else value


def _origins(given: list[str]) -> dict[str, Path]:
    from steelyard.web.reading import results_folder

    origins: dict[str, Path] = {}
    for each in given:
        named, equals, path = each.partition("=")
        folder = results_folder(Path(path if equals else each))
        name = named if equals else folder.name
        if name in origins:
            raise typer.BadParameter(
                f"two folders have the origin {name!r}: name them, as NAME={path or each}",
                param_hint="FOLDER",
            )
        origins[name] = folder
    return origins
