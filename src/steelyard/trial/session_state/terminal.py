"""A terminal that is gone: writing to it would fail, and an undo would stop halfway."""

from __future__ import annotations

import os
import stat
from contextlib import suppress

_DEVICES_OF_MEMORY = 1
"""Major number of /dev/null and its like; every other character device here is a terminal."""


def leave_terminal() -> None:
    """What still goes to a terminal goes nowhere. Only system calls: it runs in a handler."""
    nowhere = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
    for descriptor in (0, 1, 2):
        with suppress(OSError):
            found = os.fstat(descriptor)
            if stat.S_ISCHR(found.st_mode) and os.major(found.st_rdev) != _DEVICES_OF_MEMORY:
                os.dup2(nowhere, descriptor)
    os.close(nowhere)
