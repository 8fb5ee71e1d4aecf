"""postfix that discards all mail but that of box.test, and refuses user2@refused.test."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.integration.servers.authority import Authority
from tests.integration.servers.private_server import (
    answers,
    free_port,
    require_program,
    require_root,
    wait_until,
    write_config,
)


@dataclass(frozen=True)
class Postfix:
    folder: Path
    port: int
    narrow_port: int

    @property
    def smtp(self) -> str:
        return f"smtp://127.0.0.1:{self.port}"

    @property
    def narrow(self) -> str:
        """Takes one connection of a client at a time."""
        return f"smtp://127.0.0.1:{self.narrow_port}"

    def accepted(self) -> int:
        """Messages that its log says it has taken into the queue since it began."""
        log = self.folder / "mail.log"
        return log.read_text(errors="replace").count("(queue active)") if log.exists() else 0


@contextmanager
def postfix(folder: Path, authority: Authority, virtual: str = "discard") -> Iterator[Postfix]:
    """``virtual``: the transport of mail for box.test."""
    program = require_program("postfix", "postfix")
    require_root("postfix")
    authority.certify(folder)
    server = Postfix(folder, free_port(), free_port())
    for name in ("spool", "data"):
        (folder / name).mkdir()
    shutil.chown(folder / "data", "postfix")
    etc = folder / "etc"
    values = {"folder": folder, "virtual_transport": virtual}
    write_config("postfix-main.cf", etc / "main.cf", **values)
    ports = {"port": server.port, "narrow_port": server.narrow_port}
    write_config("postfix-master.cf", etc / "master.cf", **ports)
    with (folder / "stderr.log").open("ab") as told:
        subprocess.run(
            [program, "-c", etc, "start"],
            check=True,
            stdin=subprocess.DEVNULL,
            stdout=told,
            stderr=told,
        )
    try:
        wait_until(lambda: answers(server.port, b"220 "), lambda: "postfix does not greet")
        yield server
    finally:
        _end(int((folder / "spool" / "pid" / "master.pid").read_text()))


def _end(master: int) -> None:
    """Ends the master, which ends what it has started."""
    os.kill(master, signal.SIGTERM)
    wait_until(lambda: not _lives(master), lambda: f"postfix's master {master} does not end")


def _lives(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"
