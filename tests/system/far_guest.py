"""A machine behind ``ssh`` that may be restarted: an emulated guest of a built image.

Its first program is the image's own, so that it is up in seconds; systemd and the ssh server are
Debian's. Every start, also one that was asked for inside, begins with the kernel that QEMU holds.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.integration.servers.private_server import free_port
from tests.platforms.needs import need
from tests.platforms.sshd import make_key

from steelyard.hosts.machines import LOCAL, Machines
from steelyard.systems.images.build import build_image
from steelyard.systems.images.mmdebstrap import TOOLS
from steelyard.systems.images.recipe import FilePart, NamedRecipe, find_recipe
from steelyard.systems.images.store import DISK, ENGINE_PART, INITRD, KERNEL, Image
from steelyard.systems.qemu.command_line import modules

NAME = "steelyard-guest"
_LONGEST_S = 900


class Size(NamedTuple):
    """What a guest has of a machine.

    ``more``: further words of QEMU's command line. ``packages`` and ``modules`` of the kernel: what
    its image has besides.
    """

    processors: int = 2
    memory_mib: int = 512
    more: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()


_CONFIG = """\
Host {name}
  HostName 127.0.0.1
  Port {port}
  User root
  IdentityFile {folder}/user
  IdentitiesOnly yes
  UserKnownHostsFile {folder}/known_hosts
  GlobalKnownHostsFile none
  StrictHostKeyChecking {checking}
"""
_SSHD = """\
UsePAM no
AuthorizedKeysCommand /usr/local/bin/far-key
AuthorizedKeysCommandUser root
"""
_KEY = "#!/bin/sh\nsed -n 's/.*far.key=\\([^ ]*\\).*/\\1/p' /proc/cmdline | tr , ' '\n"
_WORDS = "console=ttyS0 quiet panic=-1 net.ifnames=0 no_timer_check systemd.unit=multi-user.target"
_START = f"steelyard.start=systemd steelyard.modules={','.join(modules('virtio', 'virtio'))}"
_ADDRESS = "steelyard.address=10.0.2.15/24 steelyard.gateway=10.0.2.2"


def recipe(size: Size) -> NamedRecipe:
    """systemd as bare as the catalogue has it, and an ssh server that takes a key from outside."""
    bare = find_recipe("debian-tuned").recipe
    files = {
        "/etc/ssh/sshd_config.d/far.conf": FilePart(content=_SSHD),
        "/usr/local/bin/far-key": FilePart(content=_KEY, mode=0o755),
    }
    changes = {
        "summary": "A machine behind ssh.",
        "packages": ("openssh-server", "tuned", *size.packages),
        "kernel": "linux-image-cloud-amd64",
        "modules": size.modules,
        "removed": bare.removed,
        "files": {**bare.files, **files},
    }
    return NamedRecipe(name="far", recipe=bare.model_copy(update=changes))


def image(size: Size) -> Image:
    """Built once and kept by its recipe; skips the test where it cannot be built."""
    need(*TOOLS["guest"], "qemu-system-x86_64", "qemu-img", root=True)
    with Machines() as machines:
        return build_image(machines.open(LOCAL), recipe(size), "guest")


@contextmanager
def guest(folder: Path, port: int, public_key: Path, size: Size) -> Iterator[Path]:
    """Runs one; gives the file of its console. What QEMU forwards leads to its ssh server."""
    parts, console = Path(image(size).folder), folder / "console.log"
    initrd, overlay = folder / "initrd", folder / "overlay.qcow2"
    initrd.write_bytes((parts / INITRD).read_bytes() + (parts / ENGINE_PART).read_bytes())
    below = ["-F", "qcow2", "-b", str(parts / DISK)]
    subprocess.run(["qemu-img", "create", "-q", "-f", "qcow2", *below, overlay], check=True)
    key = ",".join(public_key.read_text().split()[:2])
    words = ["qemu-system-x86_64", "-machine", "q35", "-accel", "tcg,thread=multi", "-cpu", "max"]
    words += ["-smp", f"{size.processors}", "-m", f"{size.memory_mib}", "-display", "none"]
    words += ["-nodefaults", "-no-user-config"]
    words += ["-kernel", str(parts / KERNEL), "-initrd", str(initrd)]
    words += [
        "-append",
        f"{_WORDS} {_START} {_ADDRESS} far.key={key}",
        "-serial",
        f"file:{console}",
    ]
    words += ["-device", "virtio-serial-pci", "-chardev", "null,id=agent"]
    words += ["-device", "virtserialport,chardev=agent,name=steelyard.agent"]
    words += ["-drive", f"file={overlay},if=virtio,cache=unsafe"]
    words += ["-netdev", f"user,id=net,restrict=on,hostfwd=tcp:127.0.0.1:{port}-:22"]
    words += ["-device", "virtio-net-pci,netdev=net,romfile=", *size.more]
    running = subprocess.Popen(words, stdin=subprocess.DEVNULL)
    try:
        yield console
    finally:
        running.kill()
        running.wait()


@contextmanager
def reached(folder: Path, patch: pytest.MonkeyPatch) -> Iterator[str]:
    """The name of a running guest for ``ssh``; its host key is known from the first time on."""
    with laboratory(folder, patch, {NAME: Size()}):
        yield NAME


@contextmanager
def laboratory(
    folder: Path, patch: pytest.MonkeyPatch, machines: Mapping[str, Size]
) -> Iterator[None]:
    """Running guests under these names for ``ssh``."""
    need("ssh", "ssh-keygen")
    make_key(folder / "user")
    config, wrapper = folder / "config", folder / "bin" / "ssh"
    wrapper.parent.mkdir()
    wrapper.write_text(f'#!/bin/sh\nexec /usr/bin/ssh -F {config} "$@"\n', encoding="utf-8")
    wrapper.chmod(0o755)
    patch.setenv("PATH", f"{wrapper.parent}:{os.environ['PATH']}")
    ports = {name: free_port() for name in machines}

    def configure(checking: str) -> None:
        blocks = (
            _CONFIG.format(name=name, port=port, folder=folder, checking=checking)
            for name, port in ports.items()
        )
        config.write_text("".join(blocks), encoding="utf-8")

    with ExitStack() as stack:
        consoles = {}
        for name, size in machines.items():
            own = folder / name
            own.mkdir()
            started = guest(own, ports[name], folder / "user.pub", size)
            consoles[name] = stack.enter_context(started)
        configure("accept-new")
        for name, console in consoles.items():
            _wait_for_an_answer(name, console)
        configure("yes")
        yield


def _wait_for_an_answer(name: str, console: Path) -> None:
    until_s = time.monotonic() + _LONGEST_S
    first = ["ssh", "-oBatchMode=yes", "-oConnectTimeout=10", name, "true"]
    while subprocess.run(first, capture_output=True, check=False).returncode == 255:
        assert time.monotonic() < until_s, console.read_text()[-2000:]
        time.sleep(1)
