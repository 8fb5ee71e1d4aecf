"""The platforms that exist, by the name that a study gives them."""

from __future__ import annotations

from collections.abc import Callable

from steelyard.study import catalogue
from steelyard.systems.command_line.platform import CommandLinePlatform
from steelyard.systems.external import External
from steelyard.systems.native import Native
from steelyard.systems.nspawn.platform import Nspawn
from steelyard.systems.platform import InstanceContext, Platform
from steelyard.systems.podman.platform import Podman
from steelyard.systems.qemu.platform import Qemu
from steelyard.systems.ssh import Ssh

OWN: dict[str, Callable[[InstanceContext], Platform]] = {
    "external": External,
    "native": Native,
    "nspawn": Nspawn,
    "podman": Podman,
    "qemu": Qemu,
    "ssh": Ssh,
}
"""Those with a class of their own."""

# By the names of the files alone: to read them all would make every command start later.
PLATFORMS = {name: OWN.get(name, CommandLinePlatform) for name in catalogue.names("platforms")}


def place(context: InstanceContext) -> Platform:
    """The platform of one instance; a file of the user's own is driven by its commands."""
    own = context.spec.platform_text is not None
    return (CommandLinePlatform if own else PLATFORMS[context.spec.platform])(context)
