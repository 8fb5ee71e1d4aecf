"""Whose a run is: its ledger is acted on only where no other user can have written it."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from steelyard.errors import RecordError


def refuse_foreign_run(run: Path) -> None:
    """Before the ledger of a run is acted on.

    Raises:
        RecordError: its folder, its trials or its ledger belong to another user, can be written by
            all, or are links.
    """
    for path in (run / "ledger.jsonl", run / "trials", run):
        try:
            found = path.lstat()
        except FileNotFoundError:
            continue
        if path != run and stat.S_ISLNK(found.st_mode):
            raise _foreign(path, "is a link")
        if found.st_uid != os.geteuid():
            raise _foreign(path, f"belongs to the user with the number {found.st_uid}")
        if found.st_mode & stat.S_IWOTH and not stat.S_ISLNK(found.st_mode):
            raise _foreign(path, "can be written by every user")


def _foreign(path: Path, what: str) -> RecordError:
    return RecordError(
        f"{path} {what}: its ledger could change this machine in your name",
        hint="let the user whose run it is do it; if you trust all of it, make it yours with "
        "`chown -R` and `chmod -R o-w`. `steelyard report` reads it as it is",
        slug="run-of-another-user",
    )
