"""A libvirtd of the test's own: in a network namespace, with a bridge and a private qemu.conf."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import Self

SOCKET = Path("/run/libvirt/libvirt-sock")
GATEWAY, GUEST = "10.88.7.1", "10.88.7.2/24"
NETWORK = """\
<network><name>{name}</name><forward mode='bridge'/><bridge name='br0'/></network>
"""
_START = """
mount -t sysfs sysfs /mnt; mount --rbind /sys/fs/cgroup /mnt/fs/cgroup; mount --rbind /mnt /sys
mount --bind "$1/qemu.conf" /etc/libvirt/qemu.conf
exec libvirtd --pid-file "$1/libvirtd.pid"
"""


def running() -> bool:
    """Whether a libvirtd of somebody else serves here."""
    words = ["pgrep", "--exact", "libvirtd"]
    return subprocess.run(words, check=False, capture_output=True).returncode == 0


class Libvirtd:
    """``with Libvirtd(folder, name)``: whatever it made is gone afterwards."""

    def __init__(self, folder: Path, name: str) -> None:
        self.folder = folder
        self.name = name
        self._daemon: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        (self.folder / "qemu.conf").write_text(
            'stdio_handler = "file"\nuser = "root"\ngroup = "root"\nsecurity_driver = "none"\n'
        )
        try:
            self._make_network()
            self._start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        if self._daemon is not None and self._daemon.poll() is None:
            for verb in ("net-destroy", "net-undefine"):
                self.virsh(verb, self.name, check=False)
            self._daemon.send_signal(signal.SIGTERM)
            self._daemon.wait(30)
        run("ip", "netns", "delete", self.name, check=False)
        remove_groups("machine")

    def enter(self, words: list[str]) -> list[str]:
        """Words that run others in the namespace."""
        return ["nsenter", f"--net=/run/netns/{self.name}", *words]

    def virsh(self, *words: str, check: bool = True) -> str:
        return run("virsh", "--connect", "qemu:///system", *words, check=check)

    def _make_network(self) -> None:
        run("ip", "netns", "add", self.name)
        ip = ("ip", "-n", self.name)
        run(*ip, "link", "set", "lo", "up")
        run(*ip, "link", "add", "br0", "type", "bridge")
        run(*ip, "address", "add", f"{GATEWAY}/24", "dev", "br0")
        run(*ip, "link", "set", "br0", "up")

    def _start(self) -> None:
        words = self.enter(["unshare", "--mount", "sh", "-ec", _START, "sh", str(self.folder)])
        with (self.folder / "libvirtd.log").open("wb") as log:
            self._daemon = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        until = time.monotonic() + 60
        while "Id" not in self.virsh("list", check=False):
            said = (self.folder / "libvirtd.log").read_text()
            assert self._daemon.poll() is None, said
            assert time.monotonic() < until, said
            time.sleep(0.2)
        file = self.folder / "network.xml"
        file.write_text(NETWORK.format(name=self.name))
        self.virsh("net-define", str(file))
        self.virsh("net-start", self.name)


def run(*words: str, check: bool = True) -> str:
    done = subprocess.run(words, check=False, capture_output=True, text=True)
    assert not check or done.returncode == 0, f"{words}: {done.stderr}"
    return done.stdout


def remove_groups(name: str) -> None:
    """Empty control groups that a daemon leaves behind; those with processes stay."""
    for top in Path("/sys/fs/cgroup").glob(f"*/{name}"):
        run("find", str(top), "-depth", "-type", "d", "-exec", "rmdir", "{}", ";", check=False)


def missing() -> list[str]:
    """What this machine lacks."""
    tools = ("libvirtd", "virsh", "qemu-system-x86_64", "qemu-img", "ip", "nsenter", "cpio")
    lacking = [tool for tool in tools if shutil.which(tool) is None]
    return [*lacking, *(["root"] if os.geteuid() != 0 else [])]
