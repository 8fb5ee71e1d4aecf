"""Containers of LXC in a network namespace of the test's own, with a bridge."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Self

from tests.system.busybox import write_tar
from tests.system.libvirtd import run

GATEWAY, GUEST = "10.88.11.1", "10.88.11.2/24"
BRIDGE = "br0"
_SEE_THE_BRIDGE = """
mount -t sysfs sysfs /mnt; mount --rbind /sys/fs/cgroup /mnt/fs/cgroup; mount --rbind /mnt /sys
exec "$@"
"""
"""LXC looks for it in ``/sys``, which shows the namespace that it was mounted in."""


class Lxc:
    """``with Lxc(folder, name)``: the namespace is gone afterwards, and with it the bridge."""

    def __init__(self, folder: Path, name: str) -> None:
        self.folder = folder
        self.name = name
        self.image = folder / "busybox.tar"
        self.path = folder / "lxc"

    def __enter__(self) -> Self:
        self.path.mkdir()
        write_tar(self.image)
        run("ip", "netns", "add", self.name)
        ip = ("ip", "-n", self.name)
        run(*ip, "link", "set", "lo", "up")
        run(*ip, "link", "add", BRIDGE, "type", "bridge")
        run(*ip, "address", "add", f"{GATEWAY}/24", "dev", BRIDGE)
        run(*ip, "link", "set", BRIDGE, "up")
        return self

    def __exit__(self, *_: object) -> None:
        run("ip", "netns", "delete", self.name, check=False)

    def enter(self, words: Sequence[str]) -> list[str]:
        """Words that run others where the bridge is."""
        inside = ["unshare", "--mount", "sh", "-ec", _SEE_THE_BRIDGE, "sh", *words]
        return ["nsenter", f"--net=/run/netns/{self.name}", *inside]
