"""``steelyard compact``: the folders of attempts packed into a few files."""

from __future__ import annotations

import json as jsons
from dataclasses import asdict, astuple
from typing import Annotated

import typer

from steelyard.cli.options import RunArgument


def compact(
    path: RunArgument,
    json: Annotated[bool, typer.Option("--json", help="Print the sizes as JSON.")] = False,
) -> None:
    """Pack the folders of a run's attempts into a few files, byte for byte.

    Each is deleted after what was packed of it was read back. Reports, resume and restore go on as
    before.
    """
    from steelyard.cli.console import say, shown
    from steelyard.errors import HostError, RecordError
    from steelyard.records.archive import open_run
    from steelyard.records.compaction import Compacted
    from steelyard.records.compaction import compact as packed
    from steelyard.report.figures import counted
    from steelyard.units import format_bytes

    run = open_run(path)
    if run.is_import:
        raise RecordError(
            f"{run.path} was imported: it has no attempts",
            hint="`steelyard import` keeps files as they were; nothing is to be packed",
            slug="not-a-run",
        )
    try:
        each = [packed(part) for part in run.parts()]
    except OSError as error:
        raise HostError(
            f"cannot pack {run.path}: {error.strerror}",
            hint="nothing is lost: make room for a tenth of the run, and call it again",
            slug="cannot-write",
        ) from error
    done = Compacted(*map(sum, zip(*map(astuple, each), strict=True)))
    if json:
        say(jsons.dumps({"run": str(run.path), **asdict(done)}, indent=1))
        return
    sizes = f"{format_bytes(done.bytes_before)} before, {format_bytes(done.bytes_after)} now"
    say(f"{shown(run.path)}: {counted(done.attempts, 'attempt')} packed, {sizes}")
