"""A machine with another processor behind ``ssh``: an emulated guest of nothing but memory.

Kernel, busybox and dropbear are Debian's, unpacked by ``release/unpack``; QEMU boots the kernel
directly, and the initramfs made here is all that the guest has.
"""

from __future__ import annotations

import lzma
import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.integration.servers.private_server import free_port
from tests.platforms.needs import need
from tests.platforms.sshd import make_key

ROOT = Path(__file__).parents[2]
ENGINES = ROOT / "build" / "engines"
NAME = "steelyard-board"
ADDRESS = f"ssh://{NAME}"
_LONGEST_BOOT_S = 900
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
_INIT = """\
#!/bin/busybox sh
/bin/busybox mount -t proc proc /proc
/bin/busybox mount -t sysfs sys /sys
/bin/busybox mount -t devtmpfs dev /dev
/bin/busybox mkdir -p /dev/pts /dev/shm /tmp /run /var/tmp /etc/dropbear
/bin/busybox mount -t devpts devpts /dev/pts
/bin/busybox --install -s /bin
for module in /modules/*; do insmod $module; done
ip link set lo up
ip addr add 10.0.2.15/24 dev eth0
ip link set eth0 up
hostname board
date -s @$(sed 's/.*steelyard.now=\\([0-9]*\\).*/\\1/' /proc/cmdline) >/dev/null
dropbear -R -E -s
echo steelyard: up
while true; do wait; sleep 1; done
"""
_FILES = {
    "etc/passwd": "root:x:0:0:root:/root:/bin/sh\n",
    "etc/group": "root:x:0:\n",
    "etc/shells": "/bin/sh\n",
    "etc/hosts": "127.0.0.1 localhost\n",
    "etc/nsswitch.conf": "passwd: files\ngroup: files\nshadow: files\nhosts: files\n",
}


@dataclass(frozen=True)
class Processor:
    """What QEMU and Debian call a kind of machine."""

    machine: str
    architecture: str
    kernel: str
    emulator: str
    board: tuple[str, ...]
    console: str
    bus: str = "mmio"
    """How the network card is reached."""
    suite: str = "trixie"
    """The newest release of Debian that has the kernel."""

    @property
    def card(self) -> str:
        return "virtio-net-device" if self.bus == "mmio" else f"virtio-net-{self.bus}"

    @property
    def engine(self) -> Path:
        return ENGINES / f"steelyard-engine-{self.machine}"

    @property
    def truth(self) -> Path:
        """The engine's truth tests, built for it."""
        return ENGINES / f"truth-{self.machine}"


PROCESSORS = (
    Processor(
        "aarch64",
        "arm64",
        "linux-image-arm64",
        "qemu-system-aarch64",
        ("-machine", "virt", "-cpu", "cortex-a72"),
        "ttyAMA0",
    ),
    Processor(
        "armv7l",
        "armhf",
        "linux-image-armmp",
        "qemu-system-arm",
        ("-machine", "virt,highmem=off", "-cpu", "cortex-a15"),
        "ttyAMA0",
    ),
    Processor(
        "riscv64",
        "riscv64",
        "linux-image-riscv64",
        "qemu-system-riscv64",
        ("-machine", "virt"),
        "ttyS0",
    ),
    Processor(
        "i686",
        "i386",
        "linux-image-686-pae",
        "qemu-system-i386",
        ("-machine", "pc"),
        "ttyS0",
        bus="pci",
        suite="bookworm",
    ),
)


@contextmanager
def reached(processor: Processor, folder: Path, patch: pytest.MonkeyPatch) -> Iterator[str]:
    """The name of a running guest for ``ssh``; skips the test where it cannot be made."""
    need(processor.emulator, "ssh", "ssh-keygen", "cpio", "modinfo")
    if not processor.engine.exists():
        pytest.skip(f"needs {processor.engine.relative_to(ROOT)}: make engines")
    make_key(folder / "user")
    port, config = free_port(), folder / "config"
    wrapper = folder / "bin" / "ssh"
    wrapper.parent.mkdir()
    wrapper.write_text(f'#!/bin/sh\nexec /usr/bin/ssh -F {config} "$@"\n', encoding="utf-8")
    wrapper.chmod(0o755)
    patch.setenv("PATH", f"{wrapper.parent}:{os.environ['PATH']}")

    def configure(checking: str) -> None:
        text = _CONFIG.format(name=NAME, port=port, folder=folder, checking=checking)
        config.write_text(text, encoding="utf-8")

    with _running(processor, folder, port) as console:
        configure("accept-new")
        _wait_for_an_answer(console)
        configure("yes")
        yield NAME


def inside(script: str, *, content: bytes = b"", timeout_s: float = 900) -> str:
    """What a script of the guest's shell printed."""
    done = subprocess.run(
        ["ssh", "-oBatchMode=yes", NAME, script],
        input=content,
        capture_output=True,
        timeout=timeout_s,
        check=False,
    )
    said = (done.stdout + done.stderr).decode(errors="replace")
    assert done.returncode == 0, said[-4000:]
    return done.stdout.decode()


@contextmanager
def _running(processor: Processor, folder: Path, port: int) -> Iterator[Path]:
    parts = ROOT / "build" / "guests" / processor.machine
    packages = ["busybox-static", "dropbear-bin", "--", processor.kernel]
    unpack = [
        ROOT / "release" / "unpack",
        processor.suite,
        processor.architecture,
        parts,
        *packages,
    ]
    subprocess.run(unpack, check=True, stdin=subprocess.DEVNULL)
    initrd, console = folder / "initrd", folder / "console.log"
    modules = _modules(parts, processor.bus)
    _write_initramfs(parts, modules, folder / "tree", folder / "user.pub", initrd)
    words = [processor.emulator, *processor.board, "-smp", "2", "-m", "1024"]
    words += ["-accel", "tcg,thread=multi", "-nodefaults", "-no-user-config", "-display", "none"]
    words += ["-serial", f"file:{console}", "-kernel", str(_kernel(parts, folder))]
    now = f"steelyard.now={time.time():.0f}"
    words += [
        "-initrd",
        str(initrd),
        "-append",
        f"console={processor.console} quiet panic=-1 {now}",
    ]
    words += ["-netdev", f"user,id=net,restrict=on,hostfwd=tcp:127.0.0.1:{port}-:22"]
    words += ["-device", f"{processor.card},netdev=net"]
    running = subprocess.Popen(words, stdin=subprocess.DEVNULL)
    try:
        yield console
    finally:
        running.kill()
        running.wait()


def _kernel(parts: Path, folder: Path) -> Path:
    """One that QEMU boots: Debian's, out of its gzip where it is in one."""
    (found,) = parts.glob("boot/vmlinu[xz]-*")
    if found.read_bytes()[:2] != b"\x1f\x8b":
        return found
    plain = folder / "kernel"
    with plain.open("wb") as file:
        subprocess.run(["gzip", "-dc", found], stdout=file, check=True)
    return plain


def _write_initramfs(parts: Path, modules: list[Path], tree: Path, key: Path, into: Path) -> None:
    tree.mkdir()
    for name in ("proc", "sys", "dev", "modules", "etc", "root/.ssh", "usr/bin", "usr/sbin"):
        (tree / name).mkdir(parents=True)
    for name in ("bin", "sbin", "lib", "lib64"):
        (tree / name).symlink_to(f"usr/{name}")
    libraries = [
        path
        for path in (parts / "usr" / "lib").iterdir()
        if not path.name.startswith(("modules", "linux-image"))
    ]
    subprocess.run(
        ["cp", "-a", "--parents", *_below(parts, libraries), tree], cwd=parts, check=True
    )
    for program in ("usr/bin/busybox", "usr/sbin/dropbear"):
        (tree / program).write_bytes((parts / program).read_bytes())
        (tree / program).chmod(0o755)
    for name, text in {**_FILES, "init": _INIT}.items():
        (tree / name).write_text(text, encoding="utf-8")
    (tree / "init").chmod(0o755)
    (tree / "root/.ssh/authorized_keys").write_bytes(key.read_bytes())
    for folder in ("root", "root/.ssh"):
        (tree / folder).chmod(0o700)
    for number, module in enumerate(modules):
        plain = (
            lzma.decompress(module.read_bytes()) if module.suffix == ".xz" else module.read_bytes()
        )
        (tree / "modules" / f"{number:02d}-{module.name.partition('.')[0]}.ko").write_bytes(plain)
    names = b"\n".join(str(path.relative_to(tree)).encode() for path in sorted(tree.rglob("*")))
    packed = ["cpio", "--quiet", "-o", "-H", "newc", "-R", "0:0"]
    with into.open("wb") as file:
        subprocess.run(packed, cwd=tree, input=names, stdout=file, check=True)


def _below(parts: Path, paths: list[Path]) -> list[str]:
    return [str(path.relative_to(parts)) for path in paths]


def _modules(parts: Path, bus: str) -> list[Path]:
    """Of the network card, each after those that it needs; what is no file is in the kernel."""
    found = parts.glob("usr/lib/modules/*/kernel/**/*.ko*")
    files = {path.name.partition(".")[0].replace("-", "_"): path for path in found}
    order: list[Path] = []

    def add(name: str) -> None:
        if name not in files or files[name] in order:
            return
        ask = ["modinfo", "-F", "depends", str(files[name])]
        told = subprocess.run(ask, capture_output=True, text=True, check=True).stdout
        for needed in filter(None, told.strip().split(",")):
            add(needed)
        order.append(files[name])

    for name in (f"virtio_{bus}", "virtio_net"):
        add(name)
    return order


def _wait_for_an_answer(console: Path) -> None:
    until_s = time.monotonic() + _LONGEST_BOOT_S
    while "steelyard: up" not in (
        console.read_text("utf-8", "replace") if console.exists() else ""
    ):
        assert time.monotonic() < until_s, console.read_text()[-2000:]
        time.sleep(1)
    first = ["ssh", "-oBatchMode=yes", "-oConnectTimeout=60", NAME, "true"]
    while subprocess.run(first, capture_output=True, check=False).returncode != 0:
        assert time.monotonic() < until_s, console.read_text()[-2000:]
        time.sleep(1)
