"""What the run before this one has left on a machine: it is not the state to measure or restore."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from shlex import quote

from steelyard.errors import HostError, RecordError
from steelyard.hosts.host import Host
from steelyard.hosts.undo.log import PendingUndo, pending_undos
from steelyard.records.archive import Run
from steelyard.records.ledger import read_ledger, refuse_foreign_run


def refuse_changed_machine(host: Host, folder: str, own: Run) -> None:
    """``folder`` is that of the run that held the machine last, by a file that all can write.

    Nothing is refused where that is another machine's part of the ``own`` run, or where nothing is
    known: the folder lies on another controller, is of another user or is damaged.

    Raises:
        HostError: the run was ended before it had undone its changes of the machine.
    """
    whole = _whole(Path(folder)) if isinstance(folder, str) else None
    if whole is None or whole == _whole(own.path):
        return
    left = [each for each in _pending(whole) if each.host == host.name]
    if not left:
        return
    more = f" and {len(left) - 1} more" if len(left) > 1 else ""
    name = quote(str(whole.path))
    raise HostError(
        f"{host.name} is as the run {whole.path} left it, which has not undone its changes: "
        f"{left[0].inverse}{more}",
        hint=f"undo them with `steelyard restore {name}`; `steelyard resume {name}` goes on there",
        slug="machine-was-left-changed",
    )


def _whole(folder: Path) -> Run | None:
    """The run, or that of several machines of which it is one."""
    try:
        run = Run(folder)
        return run if run.of_machines is None else Run(run.of_machines)
    except (OSError, LookupError, ValueError):
        return None


def _pending(run: Run) -> Iterator[PendingUndo]:
    try:
        for part in run.parts():
            refuse_foreign_run(part.path)
            yield from pending_undos(read_ledger(part.ledger_path))
    except (OSError, RecordError):
        return
