"""Tests that cannot be done side by side take turns, whichever process they run in."""

from __future__ import annotations

import fcntl
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path


def alone_with_the_machine() -> AbstractContextManager[None]:
    """Waits until no other test changes values of the whole machine."""
    return _alone_with("machine-settings")


def alone_with_the_images() -> AbstractContextManager[None]:
    """Waits until no other test builds an image: what it builds may be what is wanted here."""
    return _alone_with("images")


def alone_with_the_portmapper() -> AbstractContextManager[None]:
    """Waits until no other test offers anything by NFS: a machine has one server of it."""
    return _alone_with("portmapper")


@contextmanager
def _alone_with(what: str) -> Iterator[None]:
    with Path(tempfile.gettempdir(), f"tests-of-{what}.lock").open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
