"""Servers in user space that offer a file as a disk, on a port of loopback."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.integration.servers.private_server import (
    answers,
    free_port,
    require_program,
    require_root,
    running,
    wait_until,
    write_config,
)
from tests.platforms.alone import alone_with_the_portmapper

PORTMAPPER = 111
TARGET = "iqn.2026-11.org.example:data"


@dataclass(frozen=True)
class Offered:
    """A disk at ``url``, over ``file``, by the process ``pid``."""

    url: str
    file: Path
    pid: int


@contextmanager
def by_nbd(folder: Path, size_bytes: int, port: int | None = None) -> Iterator[Offered]:
    """qemu-nbd, which stays when a client leaves."""
    program = require_program("qemu-nbd", "qemu-utils")
    file, port = _blank(folder, size_bytes), port or free_port()
    listen = ["--bind", "127.0.0.1", "--port", str(port), "--export-name", "data"]
    command = [program, "--persistent", "--shared", "8", "--format", "raw", *listen, file]
    with running(command, folder / "nbd.log", lambda: answers(port)) as pid:
        yield Offered(f"nbd://127.0.0.1:{port}/data", file, pid)


@contextmanager
def by_iscsi(folder: Path, size_bytes: int) -> Iterator[Offered]:
    """tgtd, the target of Linux in user space."""
    require_root("tgtd")
    program, control = require_program("tgtd", "tgt"), require_program("tgtadm", "tgt")
    file, port = _blank(folder, size_bytes), free_port()
    environment = {**os.environ, "TGT_IPC_SOCKET": str(folder / "tgtd")}

    def order(*words: str) -> bool:
        argv = [control, "--lld", "iscsi", *words]
        ran = subprocess.run(argv, env=environment, capture_output=True, check=False)
        return ran.returncode == 0

    words = ["env", f"TGT_IPC_SOCKET={folder / 'tgtd'}", program, "--foreground"]
    command = [*words, "--iscsi", f"portal=127.0.0.1:{port}"]
    with running(command, folder / "tgtd.log", lambda: answers(port)) as pid:
        unit = ("--mode", "logicalunit", "--tid", "1", "--lun", "1", "-b", str(file))
        orders = [
            ("--op", "new", "--mode", "target", "--tid", "1", "-T", TARGET),
            ("--op", "new", *unit),
            ("--op", "bind", "--mode", "target", "--tid", "1", "-I", "127.0.0.1"),
        ]
        for words_of_one in orders:
            wait_until(lambda each=words_of_one: order(*each), lambda: "tgtadm is refused")
        try:
            yield Offered(f"iscsi://127.0.0.1:{port}/{TARGET}/1", file, pid)
        finally:  # it ends by no other signal while it has a target
            os.kill(pid, signal.SIGKILL)


@contextmanager
def by_nfs(folder: Path, size_bytes: int) -> Iterator[Offered]:
    """NFS-Ganesha, a server in user space; which port it has QEMU asks the machine's rpcbind."""
    require_root("nfs-ganesha")
    program = require_program("ganesha.nfsd", "nfs-ganesha nfs-ganesha-vfs")
    mapper = require_program("rpcbind", "rpcbind")
    plugins = next(Path("/usr/lib").glob("*/ganesha/libfsalvfs.so"), None)
    if plugins is None:
        pytest.skip("the VFS of NFS-Ganesha is not installed (Debian: apt install nfs-ganesha-vfs)")
    file, port, mount_port = _blank(folder, size_bytes), free_port(), free_port()
    values = {"port": port, "mount_port": mount_port, "plugins": plugins.parent}
    config = write_config("ganesha.conf", folder / "ganesha.conf", folder=folder, **values)
    log, pid_file = folder / "ganesha.log", folder / "ganesha.pid"
    command = [program, "-F", "-f", config, "-L", log, "-p", pid_file]
    with (
        alone_with_the_portmapper(),
        _mapping_ports(mapper, folder / "rpcbind.log"),
        running(command, log, lambda: answers(port) and answers(mount_port)) as pid,
    ):
        yield Offered(f"nfs://127.0.0.1{file}", file, pid)


@contextmanager
def _mapping_ports(program: str, log: Path) -> Iterator[None]:
    """rpcbind; one that runs already serves as well."""
    if answers(PORTMAPPER):
        yield
        return
    with running([program, "-f"], log, lambda: answers(PORTMAPPER)):
        yield


def _blank(folder: Path, size_bytes: int) -> Path:
    """A file of zeros; one that is there keeps what it holds."""
    file = folder / "disk.raw"
    with file.open("ab") as opened:
        opened.truncate(size_bytes)
    return file
