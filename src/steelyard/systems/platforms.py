"""The platforms that exist, by the name that a study gives them."""

from __future__ import annotations

from collections.abc import Callable

from steelyard.study import catalogue
from steelyard.systems.commanded import Commanded
from steelyard.systems.native import Native
from steelyard.systems.nspawn.place import Nspawn
from steelyard.systems.platform import Ground, Platform
from steelyard.systems.podman.place import Podman
from steelyard.systems.qemu.place import Qemu
from steelyard.systems.ssh import Ssh

OWN: dict[str, Callable[[Ground], Platform]] = {
    "native": Native,
    "nspawn": Nspawn,
    "podman": Podman,
    "qemu": Qemu,
    "ssh": Ssh,
}
"""Those with a class of their own."""

# By the names of the files alone: to read them all would make every command start later.
PLATFORMS = {name: OWN.get(name, Commanded) for name in catalogue.names("platforms")}


def place(ground: Ground) -> Platform:
    """The place of one instance; a file of the user's own is driven by its commands."""
    own = ground.spec.platform_text is not None
    return (Commanded if own else PLATFORMS[ground.spec.platform])(ground)
