"""The platforms that exist, by the name that a study gives them."""

from __future__ import annotations

from collections.abc import Callable

from steelyard.systems.native import Native
from steelyard.systems.platform import Ground, Platform
from steelyard.systems.podman.place import Podman
from steelyard.systems.qemu.place import Qemu
from steelyard.systems.ssh import Ssh

PLATFORMS: dict[str, Callable[[Ground], Platform]] = {
    "native": Native,
    "podman": Podman,
    "qemu": Qemu,
    "ssh": Ssh,
}
