"""Which folders a run may have made: what else its ledger names is not removed.

A ledger is a file like any other. One that was edited, or came from somebody else, could name any
folder of the machine, and ``restore`` is often run by root.
"""

from __future__ import annotations

import hashlib
import posixpath
import re
from dataclasses import dataclass
from pathlib import Path

SCRATCH = "scratch"
_SHORT_PATH = re.compile(r"/tmp/steelyard-[0-9a-f]{10}")  # noqa: S108 - made by the agent
"""Of the sockets of a service (``systems/services/alias.py``)."""


def mark_of(scratch: str) -> str:
    """Eight hexadecimal digits that no other run has, from its folder for files of trials."""
    return hashlib.sha256(scratch.encode()).hexdigest()[:8]


@dataclass(frozen=True)
class RunFolders:
    """What the run in a folder makes on machines."""

    run: Path

    @property
    def scratch(self) -> str:
        """The folder for files of trials, beside the records."""
        return str(self.run.absolute() / SCRATCH)

    @property
    def mark(self) -> str:
        """What every name of this run's things on machines holds."""
        return mark_of(self.scratch)

    def holds(self, path: str) -> bool:
        """Whether the run can have made this folder."""
        if posixpath.normpath(path) != path:
            return False
        named = f"/var/tmp/steelyard-{self.mark}-"  # noqa: S108 - made by the agent there
        return (
            path == self.scratch
            or path.startswith((f"{self.scratch}/", named))
            or _SHORT_PATH.fullmatch(path) is not None
        )
