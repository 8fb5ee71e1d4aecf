"""Deleting runs: what is asked first, what is refused, what was freed."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from shlex import quote

import typer

from steelyard.cli.console import print_error, say, shown, tell
from steelyard.errors import ExitCode, RecordError, SteelyardError
from steelyard.hosts.undo.log import pending_undos
from steelyard.records.archive import FACTS, Run
from steelyard.records.deletion import (
    bytes_on_disk,
    delete_spare,
    delete_whole,
    held,
    spare_files,
)
from steelyard.records.ledger import read_ledger
from steelyard.report.figures import counted
from steelyard.units import format_bytes


def delete_runs(
    names: Sequence[str], results: Path, *, whole: bool, yes: bool, as_json: bool
) -> int:
    """Deletes all that were named, or none where one of the names is no run.

    One that is in use, or has changes of a machine to undo, is kept and named.

    Raises:
        RecordError: a name is no run, or its folder is reached by a link.
        typer.BadParameter: no terminal can answer, and ``yes`` was not said.
    """
    runs = [named(name, results, whole=whole) for name in dict.fromkeys(names)]
    if not yes and not _is_confirmed(runs, whole=whole):
        return ExitCode.DONE
    freed: dict[str, int] = {}
    for run in runs:
        try:
            _refuse_pending(run, whole=whole)
            freed[str(run.path)] = delete_whole(run) if whole else delete_spare(run)
        except SteelyardError as error:
            print_error(error)
    if as_json:
        rows = [{"run": path, "freed_bytes": size, "whole": whole} for path, size in freed.items()]
        say(json.dumps(rows, indent=1))
    else:
        done = "deleted" if whole else "made smaller"
        for path, size in freed.items():
            say(f"{done}: {shown(Path(path))}, {format_bytes(size)} freed")
    return ExitCode.DONE if len(freed) == len(runs) else ExitCode.OPERATOR


def named(name: str, results: Path, *, whole: bool = True) -> Run:
    """The run of a name as the list has it, or of its folder.

    Raises:
        RecordError: there is none, its folder is a link, or it is a part of one and that ``whole``.
    """
    given = Path(name)
    path = given if given.is_dir() else results / name
    if not (path / FACTS).is_file() or path.is_symlink():
        raise RecordError(
            f"{name} is not the folder of a run; nothing was done",
            hint=f"give STUDY/RUN as `steelyard runs` lists it below {results}, or its folder",
            slug="not-a-run",
        )
    run = Run(path)
    if whole and run.of_machines is not None:
        raise RecordError(
            f"{name} is a part of the run of several machines; nothing was done",
            hint=f"delete all of it, {run.of_machines}, or leave out --all for its spare files",
            slug="run-of-several-machines",
        )
    return run


def _refuse_pending(run: Run, *, whole: bool) -> None:
    """The ledger is all that can undo what a session left on a machine; one that goes on has undos
    of its own.
    """
    with held(run):
        ledgers = [read_ledger(part.ledger_path) for part in run.parts()]
    pending = [undo for events in ledgers for undo in pending_undos(events)]
    if whole and pending:
        raise RecordError(
            f"{run.path} left {counted(len(pending), 'change')} on machines that only its ledger "
            "can undo; it is kept",
            hint=f"steelyard restore {quote(str(run.path))}",
            slug="run-left-changes",
        )


def _is_confirmed(runs: Sequence[Run], *, whole: bool) -> bool:
    if not _can_answer():
        raise typer.BadParameter("no terminal can answer: give --yes to delete", param_hint="--yes")
    for run in runs:
        size = bytes_on_disk([run.path] if whole else spare_files(run))
        what = "all of" if whole else "samples, raw output and scratch files of"
        tell(f"{what} {shown(run.path)}: {format_bytes(size)}")
    return typer.confirm("delete?", default=False, err=True)


def _can_answer() -> bool:
    return sys.stdin.isatty()
