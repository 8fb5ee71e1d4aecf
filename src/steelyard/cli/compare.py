"""``steelyard compare``: two runs side by side, in words."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from steelyard.cli.console import say
from steelyard.cli.reading import find
from steelyard.records.archive import open_run
from steelyard.report.compare import compare_lines


def compare(
    first: Annotated[Path, typer.Argument(help="Folder of a run.", show_default=False)],
    second: Annotated[Path, typer.Argument(help="Folder of another run.", show_default=False)],
) -> None:
    """Put the verdicts of two runs side by side; says where they agree and what differs."""
    one, other = open_run(first), open_run(second)
    found, beside = find(one), find(other)
    for line in compare_lines(found, beside):
        say(line)
