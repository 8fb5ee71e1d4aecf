"""An ssh server of the tests' own on loopback, and an ``ssh`` that knows it and nothing else."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tests.integration.servers.private_server import free_port
from tests.platforms.needs import need

NAME = "steelyard-far"
ADDRESS = f"ssh://{NAME}"
_SEPARATION = Path("/run/sshd")
"""A server of root's wants this empty folder; with Debian its service makes it."""
_LONGEST_START_S = 60
_SERVER = """\
ListenAddress 127.0.0.1
Port {port}
HostKey {folder}/host
AuthorizedKeysFile {folder}/user.pub
PasswordAuthentication no
KbdInteractiveAuthentication no
UsePAM no
StrictModes no
PidFile none
PermitRootLogin yes
SetEnv XDG_CACHE_HOME={folder}/cache HOME={folder}
"""
"""With a home of its own: what a user's shell starts with is neither known nor quick."""
_CLIENT = """\
Host {name}
  HostName 127.0.0.1
  Port {port}
  IdentityFile {folder}/user
  IdentitiesOnly yes
  UserKnownHostsFile {folder}/known_hosts
  GlobalKnownHostsFile none
"""


@dataclass
class Sshd:
    """The server; ``bin`` holds the ``ssh`` that reads the tests' own config."""

    folder: Path
    port: int = 0
    _server: subprocess.Popen[bytes] | None = field(default=None, repr=False)

    @property
    def bin(self) -> Path:
        return self.folder / "bin"

    @property
    def cache(self) -> Path:
        """Where the far side keeps engines."""
        return self.folder / "cache" / "steelyard"

    def prepare(self) -> None:
        """Keys, configs, and the key of the server in known_hosts."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self.port = free_port()
        for key in ("host", "user"):
            make_key(self.folder / key)
        (self.folder / "sshd_config").write_text(_SERVER.format(folder=self.folder, port=self.port))
        config = _CLIENT.format(name=NAME, folder=self.folder, port=self.port)
        (self.folder / "config").write_text(config)
        self.trust(self.folder / "host.pub")
        self.bin.mkdir()
        wrapper = self.bin / "ssh"
        real = shutil.which("ssh")
        wrapper.write_text(f'#!/bin/sh\nexec {real} -F {self.folder}/config "$@"\n')
        wrapper.chmod(0o755)

    @contextmanager
    def running(self, patch: pytest.MonkeyPatch) -> Iterator[None]:
        """With an ``ssh`` on the path that finds it; skips the test where it cannot run."""
        need_sshd()
        self.prepare()
        self.start()
        patch.setenv("PATH", f"{self.bin}:{os.environ['PATH']}")
        try:
            yield
        finally:
            self.stop()

    def trust(self, public_key: Path) -> None:
        """Puts this key, and no other, in known_hosts."""
        kind, key, *_ = public_key.read_text().split()
        known = self.folder / "known_hosts"
        known.write_text(f"[127.0.0.1]:{self.port} {kind} {key}\n")

    def start(self) -> None:
        """Returns when the server greets."""
        log = (self.folder / "sshd.log").open("ab")
        self._server = subprocess.Popen(self.argv(), stdin=subprocess.DEVNULL, stderr=log)
        log.close()
        end = time.monotonic() + _LONGEST_START_S
        while not self.greets():
            if self._server.poll() is not None or time.monotonic() > end:
                raise RuntimeError((self.folder / "sshd.log").read_text())
            time.sleep(0.02)

    def argv(self) -> list[str]:
        """What is started."""
        server = shutil.which("sshd", path="/usr/sbin:/usr/bin") or "sshd"
        return [server, "-D", "-e", "-f", str(self.folder / "sshd_config")]

    def sessions(self) -> list[int]:
        """Processes that serve connections now."""
        assert self._server is not None
        children = Path(f"/proc/{self._server.pid}/task/{self._server.pid}/children")
        return [int(pid) for pid in children.read_text().split()]

    def break_connections(self) -> None:
        """Kills what serves them, as a machine that goes down would."""
        for pid in self.sessions():
            with suppress(ProcessLookupError):  # it ended by itself meanwhile
                os.kill(pid, signal.SIGKILL)

    def stop(self) -> None:
        if self._server is not None:
            self.break_connections()
            self._server.kill()
            self._server.wait()
            self._server = None

    def greets(self) -> bool:
        """Whether it answers."""
        try:
            with socket.create_connection(("127.0.0.1", self.port), 1) as connection:
                return connection.recv(4) == b"SSH-"
        except OSError:
            return False


def need_sshd() -> None:
    """Skips the test where no server can be started."""
    need("ssh", "ssh-keygen", "/usr/sbin/sshd")
    if os.geteuid() == 0 and not _SEPARATION.exists():
        _SEPARATION.mkdir(mode=0o755)


def make_key(path: Path) -> None:
    path.unlink(missing_ok=True)
    argv = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "steelyard", "-f", str(path)]
    subprocess.run(argv, check=True, stdin=subprocess.DEVNULL)
