"""Tests that change values of the whole machine take turns, whichever process they run in."""

from __future__ import annotations

import fcntl
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_LOCK = Path(tempfile.gettempdir(), "tests-of-machine-settings.lock")


@contextmanager
def alone_with_the_machine() -> Iterator[None]:
    """Waits until no other test changes the machine."""
    with _LOCK.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
