"""``steelyard restore``: undoes whatever runs have left on machines; needs no study."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from steelyard.cli.console import say, say_json, shown, warn
from steelyard.cli.options import RESULTS, JsonOption, ResultsOption
from steelyard.errors import ExitCode, RecordError

if TYPE_CHECKING:
    from steelyard.hosts.lease import Claimant
    from steelyard.hosts.undo.log import PendingUndo
    from steelyard.hosts.undo.restore import Left, Restored
    from steelyard.records.archive import Run
    from steelyard.records.events import Event
    from steelyard.records.ledger import Ledger

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
    from steelyard.records.archive import open_run, runs_below
    from steelyard.report.figures import counted

    if (path is None) != every:
        raise typer.BadParameter("name the folder of a run, or say --all")
    found = [open_run(path)] if path is not None else runs_below(results)
    if not found:
        raise RecordError(
            f"there is no run in {shown(results)}",
            hint="name the folder that `steelyard run --results` wrote into",
            slug="no-results",
        )
    runs = [part for run in found for part in run.parts()]
    outcomes = [_outcome(run, dry_run=dry_run, alone=bool(path)) for run in runs]
    code = max((each.code for each in outcomes), default=ExitCode.DONE)
    if json:
        say_json([_data(each) for each in outcomes])
        return code
    for each in outcomes:
        _print(each)
    if path is not None and not any(each.is_something for each in outcomes):
        say("nothing was left to undo")
    if path is None and not any(each.code or each.pending for each in outcomes):
        say(f"nothing is left of {counted(len(runs), 'run')} in {shown(results)}")
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


def _outcome(run: Run, *, dry_run: bool, alone: bool) -> _Outcome:
    """Of one run; among many, one that is in use or damaged is reported and the others go on.

    Each has agents of its own: with them it lets go of its machines.
    """
    from steelyard.hosts.lease import Leases, opened_alone
    from steelyard.hosts.machines import Machines
    from steelyard.hosts.undo.log import UndoLog, pending_undos
    from steelyard.hosts.undo.ours import RunFolders
    from steelyard.hosts.undo.restore import restore_all
    from steelyard.records.ledger import Ledger, refuse_foreign_run

    try:
        pending = tuple(pending_undos(_events(run)))
        if not pending or dry_run:
            return _Outcome(run.path, pending)
        refuse_foreign_run(run.path)
        with Ledger(run.ledger_path) as ledger, Machines() as machines:
            opened = opened_alone(machines.open, Leases(_claimant(run, ledger)))
            done = restore_all(UndoLog(ledger), opened, RunFolders(run.path))
            return _Outcome(run.path, restored=done)
    except RecordError as error:
        if alone:
            raise
        return _Outcome(run.path, skipped=error.message)


def _events(run: Run) -> list[Event]:
    """What the ledger holds.

    Raises:
        RecordError: it is missing, or holds nothing although trials have begun.
    """
    from steelyard.hosts.undo.ours import SCRATCH
    from steelyard.records.ledger import read_ledger

    events = [] if run.is_import else read_ledger(run.ledger_path)
    began = (run.path / SCRATCH).exists() or any((run.path / "trials").glob("*"))
    if not events and not run.is_import and (began or not run.ledger_path.exists()):
        raise RecordError(
            f"{run.ledger_path} is missing or empty: what the run changed is not known",
            hint="bring the ledger back from a copy of the run; without it, look by hand for what "
            "`steelyard plan --changes` of its study lists",
            slug="record-is-damaged",
        )
    return events


def _claimant(run: Run, ledger: Ledger) -> Claimant:
    """As its sessions claim machines; where its facts are damaged, as an unknown run."""
    from steelyard.hosts.lease import Claimant, claimant_of

    try:
        return claimant_of(run, ledger)
    except RecordError:
        return Claimant(run=str(run.path), identity=uuid.uuid4().hex)


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
