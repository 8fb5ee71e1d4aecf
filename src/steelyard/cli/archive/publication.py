"""``steelyard publish`` and ``steelyard verify``: results for others, and checks of them."""

from __future__ import annotations

import json as jsons
from pathlib import Path
from typing import Annotated

import typer

from steelyard.cli.options import RunArgument
from steelyard.errors import ExitCode
from steelyard.publication.secret_texts import SecretKind

JsonOption = Annotated[bool, typer.Option("--json", help="Print what was found as JSON.")]


def publish(
    path: RunArgument,
    to: Annotated[
        Path,
        typer.Option("--to", help="The folder to make; it must not be there.", show_default=False),
    ],
    anonymous: Annotated[
        bool,
        typer.Option(
            "--anonymous",
            help="Without records: findings and report without host names, paths and addresses. "
            "Who reads them cannot run the judge again.",
        ),
    ] = False,
    allow: Annotated[
        list[SecretKind] | None,
        typer.Option(
            "--allow", help="A kind of secret that is none here; may be repeated.", metavar="KIND"
        ),
    ] = None,
) -> int:
    """Put a run into a folder for others, with all that its findings rest on."""
    from steelyard.cli.console import say, shown
    from steelyard.publication.publish import publish as made_of
    from steelyard.records.archive import of_one_machine, open_run, refuse_names_of_machines
    from steelyard.units import format_bytes

    run = of_one_machine(open_run(path))
    if anonymous:
        refuse_names_of_machines(run)
    made = made_of(run, to, allowed=allow or (), records=not anonymous)
    say(f"published: {shown(made.folder)}, {made.files} files, {format_bytes(made.bytes)}")
    say(f"commitment: {made.commitment or 'none, the run was made without'}")
    say(f"SHA256SUMS: {made.sums_sha256}")
    return ExitCode.DONE


def verify(
    folder: Annotated[Path, typer.Argument(help="Folder of a publication.", show_default=False)],
    commitment: Annotated[
        str | None,
        typer.Option(
            "--commitment",
            help="The digest as it was posted before the first trial, where others dated it.",
        ),
    ] = None,
    json: JsonOption = False,
) -> int:
    """Check digests, statement, commitment and records, and run the judge again.

    The folder is one that `publish` made.
    """
    from steelyard.cli.archive.verification import lines_of
    from steelyard.cli.console import say
    from steelyard.publication.verify import verify as checks_of

    found = checks_of(folder, commitment)
    for line in (
        [jsons.dumps(found.document(), indent=2, ensure_ascii=False)] if json else lines_of(found)
    ):
        say(line)
    if found.failed:
        return ExitCode.INCONSISTENT
    return ExitCode.DONE if found.replayed else ExitCode.OPERATOR
