"""The words that build an image: from a recipe to command lines, and from answers to figures."""

from __future__ import annotations

import hashlib
import re
import shlex
import uuid
from typing import Any

from steelyard.hosts.failures import FailureKind
from steelyard.systems.images.recipe import (
    BOOT_MODULES,
    GUEST_PACKAGES,
    LEFT_OUT,
    OPTIONAL_MODULES,
    SYSTEMD_PACKAGES,
    Kind,
    Recipe,
)

TOOLS: dict[Kind, tuple[str, ...]] = {
    "container": ("mmdebstrap",),
    "guest": (
        *("mmdebstrap", "dpkg-deb", "depmod", "modprobe", "cpio", "xz"),
        *("mke2fs", "debugfs", "dumpe2fs", "e2fsck", "qemu-img"),
    ),
}
DEBIAN_PACKAGES = {
    "mmdebstrap": "mmdebstrap",
    "dpkg-deb": "dpkg",
    "depmod": "kmod",
    "modprobe": "kmod",
    "cpio": "cpio",
    "xz": "xz-utils",
    "mke2fs": "e2fsprogs",
    "debugfs": "e2fsprogs",
    "dumpe2fs": "e2fsprogs",
    "e2fsck": "e2fsprogs",
    "qemu-img": "qemu-utils",
}

_APART = """\
unshare --mount --propagation private true 2>/dev/null || exec "$@"
exec unshare --mount --propagation private "$@"
"""
"""What is mounted in the tree ends with the processes of the build, however these end."""
_EXPIRED = 'Acquire::Check-Valid-Until "false"'


def mmdebstrap(recipe: Recipe, kind: Kind, work: str) -> list[str]:
    """Builds the tree as ``root.tar`` in the folder ``work``, where the scripts lie, too."""
    packages = recipe.packages if kind == "container" else (*GUEST_PACKAGES, *recipe.packages)
    if kind == "guest" and recipe.init == "systemd":
        packages = (*packages, *SYSTEMD_PACKAGES)
    hook = f'sh {shlex.quote(work)}/scripts/finish-tree.sh "$1" {shlex.quote(work)}'
    answers = f'chroot "$1" debconf-set-selections < {shlex.quote(work)}/debconf'
    words = [
        "sh",
        "-c",
        _APART,
        "sh",
        "mmdebstrap",
        "--mode=root",
        "--format=tar",
        f"--variant={recipe.variant}",
    ]
    words += [f"--dpkgopt=path-exclude={pattern}" for pattern in LEFT_OUT]
    words += [f"--include={package}" for package in dict.fromkeys(packages)]
    words += [f"--aptopt={_EXPIRED}"] if recipe.frozen_mirror else []
    words += [f"--essential-hook={answers}"] if recipe.debconf else []
    words += [f"--customize-hook={hook}", recipe.suite, f"{work}/root.tar"]
    return words if recipe.mirror is None else [*words, recipe.mirror]


def lists(recipe: Recipe, kind: Kind) -> dict[str, str]:
    """The small files beside the scripts, one word a line."""
    guest = kind == "guest"
    lines: dict[str, tuple[str, ...]] = {
        "debconf": recipe.debconf,
        "removed": recipe.removed,
        "masked": recipe.masked,
        "modules": recipe.modules,
        "boot-modules": BOOT_MODULES,
        "optional-modules": OPTIONAL_MODULES,
        "kernel-package": (recipe.kernel,) if guest else (),
    }
    return {name: "".join(f"{line}\n" for line in texts) for name, texts in lines.items()}


def filesystem_uuid(digest: str) -> str:
    """The identity of the filesystem on the disk: it follows from the recipe."""
    return str(uuid.UUID(bytes=hashlib.sha256(digest.encode()).digest()[:16]))


def packages(listed: str) -> dict[str, str]:
    """Versions by package, from lines ``NAME VERSION``."""
    parts = (line.partition(" ") for line in listed.splitlines() if " " in line)
    return dict(sorted((name, version) for name, _, version in parts))


_UNKNOWN = re.compile(r"E: (?:Unable to locate package |Version '[^']*' for '|Package ')([^'\s]+)")

_UNREACHED = re.compile(
    r"^E: (Failed to fetch \S+ +(?:Temporary failure|Could not|Unable to connect|Connection).*)$",
    re.MULTILINE,
)


def complaint(stderr: str) -> tuple[FailureKind, dict[str, Any]]:
    """What made a build fail, from what its tools said: a kind of failure and words for people."""
    if "No space left on device" in stderr:
        return "no_space", {"message": "there is no space left to build the image"}
    unknown = _UNKNOWN.search(stderr)
    if unknown is not None:
        message = f"apt knows no package `{unknown[1]}` in this suite"
        return "image_unusable", {"message": message, "hint": "fix `packages` of the recipe"}
    unreached = _UNREACHED.search(stderr)
    if unreached is not None:
        message = f"the packages could not be fetched: {unreached[1]}"
        hint = "look at the network, or name a `mirror` that this machine reaches in a recipe"
        return "tool_failed", {"message": message, "hint": hint}
    said = [line for line in stderr.splitlines() if line.startswith("E: ") or "error" in line]
    last = said[0] if said else (stderr.strip().splitlines() or ["it said nothing"])[-1]
    return "tool_failed", {"message": f"the image could not be built: {last}"}
