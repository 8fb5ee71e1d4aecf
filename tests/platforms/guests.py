"""Guests that tests start: small, emulated, of an image that is kept by its recipe."""

from __future__ import annotations

import subprocess
from typing import Any

import pytest
from tests.platforms.alone import alone_with_the_images
from tests.platforms.needs import need

from steelyard.engine.locate import find_engine
from steelyard.hosts.machines import LOCAL, Machines
from steelyard.systems.images.build import build_image
from steelyard.systems.images.mmdebstrap import TOOLS
from steelyard.systems.images.recipe import Kind, find_recipe
from steelyard.systems.images.store import find_built

IMAGE = "debian-minimal"
SMALL: dict[str, Any] = {
    "image": IMAGE,
    "cpus": 1,
    "memory": 256 << 20,
    "accel": "tcg",
    "nic": "virtio",
    "disk_bus": "virtio",
    "disk_cache": "writeback",
}


def guest_settings() -> dict[str, Any]:
    """Settings of a guest whose image is there; skips where none can run."""
    need("qemu-system-x86_64", "qemu-img", "ip", "nsenter", root=True)
    if subprocess.run(
        [find_engine(), "join", "--help"], capture_output=True, check=False
    ).returncode:
        pytest.skip("needs an engine that can `join` a socket")
    return {**SMALL, "image": built(IMAGE, "guest")}


def built(name: str, kind: Kind) -> str:
    """The name of an image that is there; skips the test where it cannot be built."""
    need(*TOOLS[kind], root=True)
    with alone_with_the_images(), Machines() as machines:
        build_image(machines.open(LOCAL), find_recipe(name), kind)
    return name


def built_folder(name: str, kind: Kind) -> str:
    """Where that image lies."""
    built(name, kind)
    with Machines() as machines:
        image = find_built(machines.open(LOCAL), find_recipe(name), kind)
    assert image is not None
    return image.folder
