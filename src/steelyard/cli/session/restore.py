"""``steelyard restore``: undoes whatever runs have left on machines; needs no study."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from steelyard.cli.console import say, shown, tell
from steelyard.cli.options import RESULTS, ResultsOption
from steelyard.errors import ExitCode, RecordError

if TYPE_CHECKING:
    from steelyard.hosts.machines import Machines
    from steelyard.hosts.undo.restore import Left, Restored
    from steelyard.records.archive import Run

RunArgument = Annotated[
    Path | None,
    typer.Argument(help="Folder of a run, or of a study's runs: the newest.", show_default=False),
]
DryRunOption = Annotated[
    bool,
    typer.Option("--dry-run", help="Print what would be undone, the newest first; do nothing."),
]
AllOption = Annotated[bool, typer.Option("--all", help="All runs below --results.")]


def restore(
    path: RunArgument = None,
    every: AllOption = False,
    results: ResultsOption = RESULTS,
    dry_run: DryRunOption = False,
) -> int:
    """Undo every change that interrupted runs left on a machine."""
    from steelyard.hosts.machines import Machines
    from steelyard.records.archive import open_run, runs_below

    if (path is None) != every:
        raise typer.BadParameter("name the folder of a run, or say --all")
    found = [open_run(path)] if path is not None else runs_below(results)
    runs = [part for run in found for part in run.parts()]
    with Machines() as machines:
        codes = [_restored(run, None if dry_run else machines, alone=bool(path)) for run in runs]
    if path is None and not any(codes):
        say(f"nothing is left of {len(runs)} runs in {shown(results)}")
    return max(codes, default=ExitCode.DONE)


def _restored(run: Run, machines: Machines | None, *, alone: bool) -> ExitCode:
    """Of one run; among many, one that is in use or damaged is reported and the others go on.

    Without ``machines`` it is only printed what would be done.
    """
    from steelyard.hosts.undo.log import UndoLog, pending_undos
    from steelyard.hosts.undo.ours import RunFolders
    from steelyard.hosts.undo.restore import restore_all
    from steelyard.records.ledger import Ledger, read_ledger, refuse_foreign_run

    try:
        pending = pending_undos(read_ledger(run.ledger_path))
        if not pending:
            if alone:
                say("nothing was left to undo")
            return ExitCode.DONE
        if machines is None:
            for undo in pending:
                say(f"would do on {undo.host}: {undo.inverse}")
            return ExitCode.DONE
        refuse_foreign_run(run.path)
        with Ledger(run.ledger_path) as ledger:
            return told(restore_all(UndoLog(ledger), machines.open, RunFolders(run.path)))
    except RecordError as error:
        if alone:
            raise
        tell(f"skipped: {error.message}")
        return ExitCode.OPERATOR


def told(restored: Restored) -> ExitCode:
    """Prints what was undone and what was not."""
    for undo in restored.undone:
        say(f"done on {undo.host}: {undo.inverse}")
    for left in restored.left:
        _tell_left(left)
    return ExitCode.OPERATOR if restored.left else ExitCode.DONE


def _tell_left(left: Left) -> None:
    say(f"left {left}")
    if left.hint:
        tell(f"  hint: {left.hint}")
