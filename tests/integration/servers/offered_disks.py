"""Servers in user space that offer a file as a disk, on a port of loopback."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.integration.servers.private_server import (
    answers,
    free_port,
    require_program,
    require_root,
    running,
    wait_until,
)

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


def _blank(folder: Path, size_bytes: int) -> Path:
    """A file of zeros; one that is there keeps what it holds."""
    file = folder / "disk.raw"
    with file.open("ab") as opened:
        opened.truncate(size_bytes)
    return file
