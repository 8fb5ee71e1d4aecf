"""Processes on their cores, and what the kernel charged them."""

from __future__ import annotations

import functools
import os
import resource
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

CLIENT_CORE = 0
SERVER_CORE = 1
PATIENCE_S = 10
LIMIT_S = 120
LISTENING = "0A"
FILES = min(40_000, resource.getrlimit(resource.RLIMIT_NOFILE)[1])
"""Descriptors that every process may have open."""


Process = subprocess.Popen[str]


class Unmeasurable(Exception):  # noqa: N818 - it is no error of this program
    """A run that gave no figure; never a zero."""


@dataclass(frozen=True)
class Charged:
    """A process that ended, and its price."""

    output: str
    cpu_s: float
    wall_s: float


def pinned(command: list[str], core: int) -> list[str]:
    """The command on one core, where there are two, with many descriptors."""
    which = str(core % (os.cpu_count() or 1))
    return ["taskset", "-c", which, "prlimit", f"--nofile={FILES}", *command]


def start(command: list[str], core: int, complaints: IO[bytes] | None = None) -> Process:
    """Starts a command whose output is wanted; it may leave files where no one looks."""
    return subprocess.Popen(
        pinned(command, core),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=complaints or subprocess.DEVNULL,
        cwd=scratch().name,
        text=True,
    )


@functools.cache
def scratch() -> tempfile.TemporaryDirectory[str]:
    """A folder that is there until this process ends."""
    return tempfile.TemporaryDirectory(prefix="steelyard-bench-")


def charged(command: list[str]) -> Charged:
    """Runs a client to its end.

    Raises:
        Unmeasurable: it failed, and what it said.
    """
    with tempfile.TemporaryFile() as complaints:
        begun = time.monotonic()
        limited = ["timeout", "--foreground", str(LIMIT_S), *command]
        process = start(limited, CLIENT_CORE, complaints)
        assert process.stdout is not None
        output = process.stdout.read()
        cpu_s, code = reaped(process)
        wall_s = time.monotonic() - begun
        if code != 0:
            complaints.seek(0)
            said = (output + complaints.read().decode(errors="replace"))[-300:].strip()
            raise Unmeasurable(f"{Path(command[0]).name} ended with {code}: {said}")
    return Charged(output, cpu_s, wall_s)


def reaped(process: Process) -> tuple[float, int]:
    """CPU seconds of a process and its children, and how it ended."""
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.stdout is not None:
        process.stdout.close()
    return usage.ru_utime + usage.ru_stime, process.returncode


def killed(process: Process) -> float:
    """Ends a client that never ends by itself; its CPU seconds."""
    process.kill()
    return reaped(process)[0]


@contextmanager
def served(command: list[str], port: int) -> Iterator[Process]:
    """A server on its core from the moment it accepts connections.

    Raises:
        Unmeasurable: it does not.
    """
    process = subprocess.Popen(
        pinned(command, SERVER_CORE),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        await_port(process, command[0], port)
        yield process
    finally:
        ended(process)


def await_port(process: Process, name: str, port: int) -> None:
    """Returns when somebody listens."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline and process.poll() is None:
        if listens(port):
            return
        time.sleep(0.05)
    raise Unmeasurable(f"{name} does not listen on 127.0.0.1:{port}")


def listens(port: int) -> bool:
    """Whether anybody does. Asked without a connection: iperf3 would take it for its one client."""
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        for line in Path(table).read_text(encoding="ascii").splitlines()[1:]:
            _, local, _, state = line.split()[:4]
            if state == LISTENING and int(local.rpartition(":")[2], 16) == port:
                return True
    return False


def ended(process: Process) -> None:
    """Asks a server to end; a deaf one is killed."""
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(PATIENCE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def free_port() -> int:
    """A port that no one listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def status_of(pid: int, word: str) -> int:
    """A number of `/proc/PID/status`; sizes are KiB."""
    for line in Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines():
        name, _, rest = line.partition(":")
        if name == word:
            return int(rest.split()[0])
    raise Unmeasurable(f"/proc/{pid}/status has no {word}")
