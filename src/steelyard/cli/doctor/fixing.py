"""``steelyard doctor --fix``: settings that rules ask for, and ``--undo``, which reverts them.

They are settings as a study has them, applied and undone by the same code: each inverse is in a
ledger before the change. That ledger is the user's own, one for all fixes of this machine's
controller, because no run owns them.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from steelyard.cli.console import say, tell
from steelyard.cli.doctor.rules import Check
from steelyard.cli.session.restore import told
from steelyard.errors import ExitCode, HostError
from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.host import Host
from steelyard.hosts.lease import Claimant, Leases, opened_alone
from steelyard.hosts.machines import Machines
from steelyard.hosts.undo.log import UndoLog
from steelyard.hosts.undo.ours import RunFolders
from steelyard.hosts.undo.restore import Restored, restore_all
from steelyard.records.files.durable import make_folders
from steelyard.records.ledger import Ledger, refuse_foreign_run
from steelyard.study.model import Level
from steelyard.systems.settings import Applied, Place, apply_settings
from steelyard.systems.settings.preflight import unavailable

Wanted = Mapping[str, Mapping[str, Level]]
"""Levels by setting, by machine."""
_LABEL = "steelyard-doctor"


def state_folder() -> Path:
    """Keeps the ledger: ``$XDG_STATE_HOME/steelyard/doctor``, by default below ``~/.local``."""
    state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(state) / "steelyard" / "doctor"


def fixed(checks: Iterable[Check]) -> None:
    """What ``--fix`` does and says.

    Raises:
        HostError: as :func:`fix`, and where a setting did not take.
    """
    wanted = wanted_by(checks)
    if not wanted:
        tell("nothing that --fix can change is to be changed")
        return
    try:
        changed = fix(wanted)
    except SystemFailure as failure:
        raise HostError(
            failure.message, hint=failure.hint, slug="settings-cannot-be-fixed"
        ) from failure
    for applied in changed:
        tell(f"changed {applied.setting} to {applied.level}")
    tell("`steelyard doctor --undo` reverts it; so does a boot")


def undone() -> ExitCode:
    """What ``--undo`` does and says."""
    with Machines() as machines:
        restored = undo_fixes(state_folder(), _alone(machines))
    if not (restored.undone or restored.left):
        say(f"nothing was left to undo in {state_folder()}")
    return told(restored)


def wanted_by(checks: Iterable[Check]) -> dict[str, dict[str, Level]]:
    """What the rules ask for that is not so."""
    wanted: dict[str, dict[str, Level]] = {}
    for check in checks:
        if check.fix is not None:
            setting, level = check.fix
            wanted.setdefault(check.machine, {})[setting] = level
    return wanted


def fix(wanted: Wanted) -> list[Applied]:
    """Applies all of it on machines that no session measures on.

    Raises:
        HostError: a machine is in use, or lacks the rights; nothing was changed.
        SystemFailure: a setting did not take; those before it on that machine were undone.
    """
    with Machines() as machines:
        return fix_machines(wanted, _alone(machines), state_folder())


def _alone(machines: Machines) -> Callable[[str], Host]:
    claimant = Claimant(run="steelyard doctor", identity=uuid.uuid4().hex)
    return opened_alone(machines.open, Leases(claimant))


def fix_machines(
    wanted: Wanted, open_machine: Callable[[str], Host], folder: Path
) -> list[Applied]:
    """As :func:`fix`; all machines are looked at before the first is changed."""
    hosts = {name: open_machine(name) for name in wanted}
    for name, host in hosts.items():
        _refuse_what_cannot_be(host, wanted[name])
    make_folders(folder)
    refuse_foreign_run(folder)
    with Ledger(folder / "ledger.jsonl") as ledger:
        undo = UndoLog(ledger)
        place = Place(_LABEL, str(folder), is_shared=True)
        return [
            applied
            for name, host in hosts.items()
            for applied in apply_settings(host, wanted[name], undo, place)
        ]


def undo_fixes(folder: Path, open_machine: Callable[[str], Host]) -> Restored:
    """Reverts all that is not reverted yet, newest first, as ``restore`` does.

    Raises:
        RecordError: another doctor is at it, or the ledger is not this user's.
    """
    ledger_path = folder / "ledger.jsonl"
    if not ledger_path.exists():
        return Restored()
    refuse_foreign_run(folder)
    with Ledger(ledger_path) as ledger:
        return restore_all(UndoLog(ledger), open_machine, RunFolders(folder))


def _refuse_what_cannot_be(host: Host, levels: Mapping[str, Level]) -> None:
    failures = list(unavailable(host, levels))
    if not failures:
        return
    names = ", ".join(f"`{name}`" for name, _ in failures)
    raise HostError(
        f"on {host.name}: nothing was changed, because {names} cannot be: {_first(failures)}",
        hint=failures[0][1].hint,
        slug="settings-cannot-be-fixed",
    )


def _first(failures: list[tuple[str, SystemFailure]]) -> str:
    return failures[0][1].message.removeprefix("on local: ")
