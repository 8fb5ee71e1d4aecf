"""The image that a system names, on the machine that runs it."""

from __future__ import annotations

from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.host import Host
from steelyard.systems.images import recipe
from steelyard.systems.images.store import Image, find_built
from steelyard.systems.qemu.words import modules

_DISKS = (".qcow2", ".raw", ".img", ".vmdk", ".vdi")


def guest_image(host: Host, wanted: str) -> Image:
    """The built image of the recipe ``wanted``.

    Raises:
        StudyError: the recipe's file has mistakes.
        SystemFailure: ``image_missing``: it was not built there; ``not_supported``: it is a disk
            of the user's own.
    """
    if wanted.endswith(_DISKS):
        raise SystemFailure(
            "not_supported",
            f"{wanted} is a disk of your own, and the engine is not in it",
            "start that machine yourself and name it with `platform: ssh`, or write a recipe",
        )
    named = recipe.find_recipe(wanted)
    image = find_built(host, named, "guest")
    if image is None:
        message = f"on {host.name}: the image {wanted} has not been built of its present recipe"
        raise SystemFailure("image_missing", message, f"build it: steelyard image build {wanted}")
    return image


def check_modules(image: Image, nic: str, disk_bus: str) -> None:
    """Raises ``SystemFailure`` when the guest's kernel cannot drive this card or controller."""
    lacking = [name for name in modules(nic, disk_bus) if name not in image.manifest.boot_modules]
    if lacking:
        kernel = image.manifest.kernel
        message = f"the kernel {kernel} of {image.manifest.name} has no {', '.join(lacking)}"
        hint = "take virtio, or an image with Debian's full kernel, such as debian-bench"
        raise SystemFailure("image_unusable", message, hint)
