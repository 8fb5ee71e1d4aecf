"""``steelyard check``: whether published measurements agree with each other."""

from __future__ import annotations

import json as jsons
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from steelyard.consistency.findings import Rule
from steelyard.errors import ExitCode

PathArgument = Annotated[
    Path,
    typer.Argument(
        help="CSV with a column value, one value a row, or with a column a quantity; "
        "- reads standard input.",
        show_default=False,
    ),
]
ClaimsOption = Annotated[
    Path | None,
    typer.Option(
        help="CSV of conclusions to hold against the table: claim, subject, relation, than.",
        show_default=False,
    ),
]
IgnoreOption = Annotated[
    list[Rule] | None,
    typer.Option(
        metavar="RULE",
        help="A rule to leave out, by the name in its findings; may be repeated.",
        show_default=False,
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")]


def check(
    path: PathArgument,
    claims: ClaimsOption = None,
    ignore: IgnoreOption = None,
    json: JsonOption = False,
) -> int:
    """Check whether published measurements agree with each other, and conclusions with them."""
    from steelyard.cli.console import say
    from steelyard.consistency.check import check_table
    from steelyard.consistency.claims_file import read_claims
    from steelyard.consistency.reading import read_table
    from steelyard.report.sentences.terminal.published import published_lines

    table = read_table(path)
    conclusions = read_claims(claims, table) if claims is not None else []
    found = check_table(table, conclusions, ignore or [])
    lines = [jsons.dumps(asdict(found), indent=2, ensure_ascii=False)] if json else published_lines(
        found)  # fmt: skip
    for line in lines:
        say(line)
    return ExitCode.INCONSISTENT if found.findings else ExitCode.DONE
