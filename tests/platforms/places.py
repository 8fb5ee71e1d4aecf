"""Platforms that the contract is tried on here: what each needs, and the settings it is given."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.platforms.guests import guest_settings
from tests.platforms.needs import need
from tests.platforms.sshd import NAME, Sshd

Settings = dict[str, Any]


@contextmanager
def native(_folder: Path) -> Iterator[Settings]:
    yield {}


@contextmanager
def native_confined_in_the_lab(_folder: Path) -> Iterator[Settings]:
    need("ip", "nsenter", root=True)
    yield {"network": "lab", "confine": {"cpus": 1, "memory": 256 << 20}}


@contextmanager
def podman(_folder: Path) -> Iterator[Settings]:
    need("podman", "ip", "nsenter", root=True)
    yield {"network": "lab", "cpus": 1, "memory": 256 << 20, "storage": "overlay"}


@contextmanager
def podman_on_the_machines_network(_folder: Path) -> Iterator[Settings]:
    need("podman", root=True)
    yield {"network": "host", "storage": "volume"}


@contextmanager
def ssh(folder: Path) -> Iterator[Settings]:
    with pytest.MonkeyPatch.context() as patch, Sshd(folder / "sshd").running(patch):
        yield {"host": NAME}


@contextmanager
def qemu(_folder: Path) -> Iterator[Settings]:
    """Emulated, so that it runs everywhere."""
    yield {**guest_settings(), "network": "lab"}


PLACES: dict[str, tuple[str, Callable[[Path], AbstractContextManager[Settings]]]] = {
    "native": ("native", native),
    "native-confined": ("native", native_confined_in_the_lab),
    "podman": ("podman", podman),
    "podman-host": ("podman", podman_on_the_machines_network),
    "ssh": ("ssh", ssh),
    "qemu": ("qemu", qemu),
}
"""By a name for the test: which platform, and its settings while what it needs is there."""
