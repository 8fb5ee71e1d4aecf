"""``steelyard restore``: undoes whatever runs have left on machines; needs no study."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from steelyard.cli.console import say, say_json, shown, warn
from steelyard.cli.options import RESULTS, JsonOption, ResultsOption
from steelyard.errors import ExitCode, RecordError

if TYPE_CHECKING:
    from steelyard.hosts.machines import Machines
    from steelyard.hosts.undo.log import PendingUndo
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
    json: JsonOption = False,
) -> int:
    """Undo every change that interrupted runs left on a machine."""
    from steelyard.hosts.machines import Machines
    from steelyard.records.archive import open_run, runs_below

    if (path is None) != every:
        raise typer.BadParameter("name the folder of a run, or say --all")
    found = [open_run(path)] if path is not None else runs_below(results)
    runs = [part for run in found for part in run.parts()]
    with Machines() as machines:
        outcomes = [_outcome(run, None if dry_run else machines, alone=bool(path)) for run in runs]
    code = max((each.code for each in outcomes), default=ExitCode.DONE)
    if json:
        say_json([_data(each) for each in outcomes])
        return code
    for each in outcomes:
        _print(each)
    if path is not None and not any(each.is_something for each in outcomes):
        say("nothing was left to undo")
    if path is None and not any(each.code or each.pending for each in outcomes):
        say(f"nothing is left of {len(runs)} runs in {shown(results)}")
    return code


@dataclass(frozen=True)
class _Outcome:
    """Of one run; ``pending`` is what would be done, the newest first."""

    run: Path
    pending: tuple[PendingUndo, ...] = ()
    restored: Restored | None = None
    skipped: str | None = None

    @property
    def is_something(self) -> bool:
        return bool(self.pending or self.restored or self.skipped)

    @property
    def code(self) -> ExitCode:
        failed = self.skipped or (self.restored and self.restored.left)
        return ExitCode.OPERATOR if failed else ExitCode.DONE


def _outcome(run: Run, machines: Machines | None, *, alone: bool) -> _Outcome:
    """Of one run; among many, one that is in use or damaged is reported and the others go on.

    Without ``machines`` nothing is done.
    """
    from steelyard.hosts.undo.log import UndoLog, pending_undos
    from steelyard.hosts.undo.ours import RunFolders
    from steelyard.hosts.undo.restore import restore_all
    from steelyard.records.ledger import Ledger, read_ledger, refuse_foreign_run

    try:
        pending = tuple(pending_undos(read_ledger(run.ledger_path)))
        if not pending or machines is None:
            return _Outcome(run.path, pending)
        refuse_foreign_run(run.path)
        with Ledger(run.ledger_path) as ledger:
            done = restore_all(UndoLog(ledger), machines.open, RunFolders(run.path))
            return _Outcome(run.path, restored=done)
    except RecordError as error:
        if alone:
            raise
        return _Outcome(run.path, skipped=error.message)


def _print(outcome: _Outcome) -> None:
    for undo in outcome.pending:
        say(f"would do on {undo.host}: {undo.inverse}")
    if outcome.restored:
        told(outcome.restored)
    if outcome.skipped:
        warn(f"skipped: {outcome.skipped}")


def _data(outcome: _Outcome) -> dict[str, Any]:
    restored = outcome.restored
    return {
        "run": str(outcome.run),
        "pending": [_undo(each) for each in outcome.pending],
        "done": [_undo(each) for each in restored.undone] if restored else [],
        "left": [_undo(each.pending) | {"why": each.why, "hint": each.hint}
                 for each in (restored.left if restored else ())],
        "skipped": outcome.skipped,
    }  # fmt: skip


def _undo(pending: PendingUndo) -> dict[str, Any]:
    return {"host": pending.host, "undo": str(pending.inverse)}


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
        warn(f"  hint: {left.hint}")
