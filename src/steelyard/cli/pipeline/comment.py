"""``steelyard comment``: the report of a run as a comment of the pull request."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from steelyard.cli.console import say, tell


def comment(
    path: Annotated[
        Path,
        typer.Argument(
            help="Folder of a run, or of a study's runs: the newest. Or a findings.json.",
            show_default=False,
        ),
    ],
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the comment, and send nothing.")
    ] = False,
) -> None:
    """Comment on a pull request at GitHub or GitLab; a later run edits the same comment."""
    from steelyard.cli.pipeline.discussion import Discussion
    from steelyard.records.archive import open_run
    from steelyard.report.formats.comment import comment_text, marker
    from steelyard.report.from_run import find, stored

    findings = stored(path) if path.is_file() else find(open_run(path))
    if dry_run:
        say(comment_text(findings).rstrip())
        return
    done = Discussion.of(os.environ).put(marker(findings), comment_text(findings))
    tell(f"comment {done}")
