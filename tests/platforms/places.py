"""Platforms that the contract is tried on here: what each needs, and the settings it is given."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Settings = dict[str, Any]


def need(*tools: str, root: bool = False) -> None:
    """Skips the test, and says for want of what."""
    if root and os.geteuid() != 0:
        pytest.skip("needs root")
    missing = [tool for tool in tools if shutil.which(tool) is None]
    if missing:
        pytest.skip(f"needs {', '.join(missing)}")


def native(_folder: Path) -> Settings:
    return {}


def podman(_folder: Path) -> Settings:
    need("podman", "ip", "nsenter", root=True)
    return {"network": "lab", "cpus": 1, "memory": 256 << 20, "storage": "overlay"}


def podman_on_the_machines_network(_folder: Path) -> Settings:
    need("podman", root=True)
    return {"network": "host", "storage": "volume", "runtime": "runc"}


PLACES: dict[str, tuple[str, Callable[[Path], Settings]]] = {
    "native": ("native", native),
    "podman": ("podman", podman),
    "podman-host": ("podman", podman_on_the_machines_network),
}
"""By a name for the test: which platform, and how its settings come to be."""
