"""One server in a folder of its own: started, waited for, and ended by its pid."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

CONFIGS = Path(__file__).parent / "configs"
READY_WITHIN_S = 120.0
ENDED_WITHIN_S = 60.0
PORTS = range(30_300, 32_700)
"""Between those of the services of a study and those of connections."""


def require_program(name: str, package: str) -> str:
    """Path of a server's program; skips the test where it is not installed."""
    found = shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")
    if found is None:
        pytest.skip(f"{name} is not installed (Debian: apt install {package})")
    return found


def require_root(name: str) -> None:
    if os.geteuid() != 0:
        pytest.skip(f"{name} starts as root only, and this is user {os.geteuid()}")


_LAST: deque[int] = deque(maxlen=8)


def free_port() -> int:
    """A free port of loopback, and that the kernel gives to no connection meanwhile.

    Drawn by the system: tests in two processes may begin with the same seed.
    """
    drawn = random.SystemRandom()
    while True:
        port = drawn.choice(PORTS)
        if port in _LAST:  # by a server of two ports, which does not listen yet
            continue
        with contextlib.suppress(OSError), socket.create_server(("127.0.0.1", port)):
            _LAST.append(port)
            return port


def write_config(template: str, to: Path, **values: object) -> Path:
    """Fills the ``@NAME@`` of a template beside this file, in upper case."""
    text = (CONFIGS / template).read_text(encoding="utf-8")
    for name, value in values.items():
        text = text.replace(f"@{name.upper()}@", str(value))
    to.parent.mkdir(parents=True, exist_ok=True)
    to.write_text(text, encoding="utf-8")
    return to


def wait_until(done: Callable[[], bool], what: Callable[[], str]) -> None:
    end = time.monotonic() + READY_WITHIN_S
    while not done():
        assert time.monotonic() < end, what()
        time.sleep(0.01)


@contextmanager
def open_folder() -> Iterator[Path]:
    """A short folder that servers can still enter after they have dropped root.

    The folders of pytest are closed to other users, and their names leave too little of the 108
    bytes that the path of a unix socket may have.
    """
    with tempfile.TemporaryDirectory(prefix="steelyard-") as made:
        folder = Path(made)
        folder.chmod(0o755)
        yield folder


def answers(port: int, banner: bytes = b"") -> bool:
    """Whether somebody listens, and begins to speak as this protocol does."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=READY_WITHIN_S) as connection:
            return connection.recv(len(banner)) == banner if banner else True
    except OSError:
        return False


@contextmanager
def running(command: list[str | Path], log: Path, ready: Callable[[], bool]) -> Iterator[int]:
    """A server that stays in the foreground; gives its pid once it is ready."""
    with log.open("ab") as told:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=told, stderr=told)
    try:
        wait_until(lambda: process.poll() is not None or ready(), lambda: _last_words(log))
        assert process.poll() is None, _last_words(log)
        yield process.pid
    finally:
        _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
    try:
        process.wait(ENDED_WITHIN_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        raise


def _last_words(log: Path) -> str:
    """What every log in the server's folder says at its end."""
    logs = [log, *log.parent.glob("*.log")]
    return "the server is not ready; " + "\n".join(
        f"{path.name}: {path.read_text(errors='replace')[-2000:]}" for path in dict.fromkeys(logs)
    )
