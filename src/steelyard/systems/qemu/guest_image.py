"""The image that a system names, on the machine that runs it."""

from __future__ import annotations

from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.host import Host
from steelyard.systems.images import recipe
from steelyard.systems.images.store import Image, find_built, not_built
from steelyard.systems.qemu.command_line import modules


def guest_image(host: Host, wanted: str) -> Image:
    """The built image of the recipe ``wanted``.

    Raises:
        StudyError: the recipe's file has mistakes.
        SystemFailure: ``image_missing``: it was not built there.
    """
    named = recipe.find_recipe(wanted)
    image = find_built(host, named, "guest")
    if image is None:
        raise not_built(host, wanted, "guest")
    return image


def check_modules(image: Image, nic: str, disk_bus: str) -> None:
    """Raises ``SystemFailure`` when the guest's kernel cannot drive this card or controller."""
    lacking = [name for name in modules(nic, disk_bus) if name not in image.manifest.boot_modules]
    if lacking:
        kernel = image.manifest.kernel
        message = f"the kernel {kernel} of {image.manifest.name} has no {', '.join(lacking)}"
        hint = "take virtio, or an image with Debian's full kernel, such as debian-bench"
        raise SystemFailure("image_unusable", message, hint)
