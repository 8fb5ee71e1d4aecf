"""What a machine starts from: an image that was built here, or a disk of the user's own."""

from __future__ import annotations

import json
from dataclasses import dataclass

from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.host import Host
from steelyard.hosts.tool import tell
from steelyard.study.platform.settings import QemuSettings
from steelyard.systems.images.engine_layer import add_engine
from steelyard.systems.images.store import DISK, INITRD, KERNEL
from steelyard.systems.images.tree import sha256_of_file
from steelyard.systems.platform import InstanceContext
from steelyard.systems.qemu import cloud_init, command_line
from steelyard.systems.qemu.guest_image import check_modules, guest_image
from steelyard.systems.qemu.overlays import Backing, backing

_UEFI = (
    "/usr/share/ovmf/OVMF.fd",
    "/usr/share/qemu/OVMF.fd",
    "/usr/share/edk2/x64/OVMF.4m.fd",
    "/usr/share/qemu/ovmf-x86_64.bin",
)
"""Where distributions have UEFI with its variables in one file: none of them outlive a start."""
_DISKS = (".qcow2", ".raw", ".img", ".vmdk", ".vdi")


@dataclass(frozen=True)
class Source:
    """The disk below every overlay, and what starts from it.

    Without ``kernel`` the disk's own boot loader. ``start`` is what the first program of a built
    image starts; ``None`` for a disk of the user's own, which is entered by ``ssh``. ``firmware``
    is a file; QEMU's own BIOS where there is none.
    """

    disk: Backing
    kernel: str | None
    initrd: str | None
    start: str | None
    facts: dict[str, str | None]
    firmware: str | None = None

    @property
    def built_kernel(self) -> str | None:
        """That of an image which was built here: it writes on the console of QEMU."""
        return None if self.start is None else self.kernel


def built_kernel(host: Host, settings: QemuSettings) -> str | None:
    """As ``Source.built_kernel``, before there is one.

    Raises:
        StudyError: the recipe's file has mistakes.
        SystemFailure: ``image_missing`` or ``image_unusable``.
    """
    own = settings.image.endswith(_DISKS)
    return None if own else guest_image(host, settings.image).file(KERNEL)


def provide(context: InstanceContext) -> Source:
    """What the system's settings name, ready for QEMU to be started in the instance's folder.

    Raises:
        StudyError: the recipe's file has mistakes.
        SystemFailure: ``image_missing``, ``image_unusable``, ``tool_missing``, ``no_space``.
    """
    settings = QemuSettings.of(context.spec.settings)
    own = settings.image.endswith(_DISKS)
    return _own(context, settings) if own else _built(context, settings)


def refuse_missing(host: Host, settings: QemuSettings) -> None:
    """Looks whether what the settings name is on the machine, and changes nothing.

    Raises:
        StudyError: the recipe's file has mistakes.
        SystemFailure: ``image_missing`` or ``image_unusable``.
    """
    if settings.image.endswith(_DISKS):
        _found(host, settings.image)
    else:
        check_modules(guest_image(host, settings.image), settings.nic, settings.disk_bus)


def _built(context: InstanceContext, settings: QemuSettings) -> Source:
    host_machine = context.host_machine()
    own = {"kernel": settings.kernel, "initrd": settings.initrd, "key": settings.key}
    for name, given in own.items():
        if given is not None:
            message = f"`{name}` is for a disk of your own, {settings.image} has what it needs"
            raise SystemFailure("image_unusable", message, f"take `{name}` out")
    if settings.firmware == "uefi":
        message = f"`firmware: uefi` is for a disk of your own, {settings.image} has its kernel"
        raise SystemFailure("image_unusable", message, "take `firmware` out")
    image = guest_image(host_machine, settings.image)
    check_modules(image, settings.nic, settings.disk_bus)
    add_engine(host_machine, image.file(INITRD), f"{context.folder}/{command_line.INITRD}")
    facts = {
        "image.name": image.manifest.name,
        "image.recipe": image.manifest.digest,
        "image.digest": image.manifest.files[DISK].sha256,
        "image.kernel": image.manifest.kernel,
    }
    disk = backing(host_machine, image.file(DISK))
    return Source(disk, image.file(KERNEL), command_line.INITRD, image.manifest.init, facts)


def _own(context: InstanceContext, settings: QemuSettings) -> Source:
    host_machine = context.host_machine()
    kernel, initrd = _kernel(host_machine, settings)
    firmware = _uefi(host_machine) if settings.firmware == "uefi" else None
    path = _found(host_machine, settings.image)
    disk = backing(host_machine, path, _format(host_machine, path))
    cloud_init.prepare(host_machine, context.folder, context.label)
    facts = {
        "image.name": path,
        "image.recipe": None,
        "image.digest": sha256_of_file(host_machine, path),
        "image.kernel": kernel,
        "image.firmware": firmware,
    }
    return Source(disk, kernel, initrd, None, facts, firmware)


def _kernel(host: Host, settings: QemuSettings) -> tuple[str | None, str | None]:
    kernel, initrd = settings.kernel, settings.initrd
    if kernel is None and (initrd is not None or settings.kernel_words is not None):
        message = "`initrd` and `kernel_words` are for a `kernel` that is named, too"
        raise SystemFailure("image_unusable", message, "the disk's boot loader has its own")
    return (
        None if kernel is None else _found(host, kernel),
        None if initrd is None else _found(host, initrd),
    )


def _uefi(host: Host) -> str:
    """The file of the firmware."""
    for path in _UEFI:
        if host.path_facts(path).exists:
            return path
    message = f"on {host.name}: there is no UEFI firmware for QEMU ({', '.join(_UEFI)})"
    raise SystemFailure("tool_missing", message, "install the package ovmf, or take `bios`")


def _found(host: Host, file: str) -> str:
    """The whole path: QEMU is started in another folder."""
    path = tell(host, ["realpath", "-m", "--", file])
    if not host.path_facts(path).exists:
        message = f"on {host.name}: there is no file {path}"
        raise SystemFailure("image_missing", message, "name a file of the machine that runs it")
    return path


def _format(host: Host, path: str) -> str:
    try:
        told = json.loads(tell(host, ["qemu-img", "info", "--output=json", "--", path]))
    except SystemFailure as failure:
        if failure.kind != "tool_failed":
            raise
        message = f"on {host.name}: QEMU cannot read {path}"
        hint = "it takes disks in qcow2, raw, vmdk and vdi"
        raise SystemFailure(
            "image_unusable", message, hint, last_words=failure.last_words
        ) from failure
    return str(told["format"])
