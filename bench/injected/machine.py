"""What the bench changes on the machine, and how all of it is taken back.

Studies run in a network and a mount namespace of their own: what is set there goes with them.
What is outside of these (control groups, a swap file, processes) bears a name, so that a bench
that was killed is cleaned up by the next one.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

NAME = "steelyard-injected"
_GROUPS = Path("/sys/fs/cgroup/memory")
_LONGEST_S = 600
_ENDS_S = 5.0


def lacking() -> str | None:
    """What this machine does not have, if anything."""
    if os.geteuid() != 0:
        return "root"
    tools = ("unshare", "nsenter", "ip", "tc", "iptables", "mkswap", "swapon", "dd", "timeout")
    missing = [tool for tool in tools if shutil.which(tool) is None]
    if missing:
        return ", ".join(missing)
    return None if (_GROUPS / "tasks").exists() else "control groups of version 1"


def start(argv: list[str], **options: object) -> subprocess.Popen[bytes]:
    """A process that ends by itself when nobody is left to end it."""
    return subprocess.Popen(
        ["timeout", "--signal=KILL", str(_LONGEST_S), *argv],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        **options,  # type: ignore[call-overload]
    )


def end(process: subprocess.Popen[bytes]) -> None:
    """With everything it started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, 9)
    process.wait()


def write_pages(path: Path, size_bytes: int) -> None:
    """A file that lies on the disk and not in memory, so that who reads it is charged for it."""
    with path.open("wb") as file:
        for _ in range(size_bytes // 2**20):
            file.write(os.urandom(2**20))
        file.flush()
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


class LimitedGroup:
    """A control group whose memory is limited, for processes that are to run short of it."""

    def __init__(self, limit_bytes: int) -> None:
        self.folder = _GROUPS / NAME
        self.folder.mkdir(exist_ok=True)
        (self.folder / "memory.limit_in_bytes").write_text(str(limit_bytes))

    def enter(self) -> None:
        """The calling process; for a child before its program begins."""
        (self.folder / "tasks").write_text(str(os.getpid()))

    def close(self) -> None:
        _remove_group(self.folder)


class SwapFile:
    """Swap space that is there as long as this is open."""

    def __init__(self, size_bytes: int) -> None:
        self.path = Path(tempfile.gettempdir()) / f"{NAME}.swap"
        with self.path.open("wb") as file:
            os.posix_fallocate(file.fileno(), 0, size_bytes)
        self.path.chmod(0o600)
        _quietly("mkswap", str(self.path))
        _quietly("swapon", str(self.path))

    def close(self) -> None:
        _remove_swap(self.path)


def clean_up() -> None:
    """What a bench that was killed has left."""
    if (_GROUPS / NAME).exists():
        _remove_group(_GROUPS / NAME)
    _remove_swap(Path(tempfile.gettempdir()) / f"{NAME}.swap")


def _remove_group(folder: Path) -> None:
    end_s = time.monotonic() + _ENDS_S
    while time.monotonic() < end_s:
        for pid in (folder / "tasks").read_text().split():
            with suppress(ProcessLookupError):
                os.kill(int(pid), 9)
        with suppress(OSError):
            folder.rmdir()
            return
        time.sleep(0.05)


def _remove_swap(path: Path) -> None:
    if path.exists():
        subprocess.run(["swapoff", str(path)], check=False, capture_output=True)
        path.unlink()


def _quietly(*argv: str) -> None:
    subprocess.run(argv, check=True, capture_output=True)


def descendants(root: int) -> Iterator[int]:
    """Every process below ``root``."""
    for children in Path(f"/proc/{root}/task").glob("*/children"):
        with suppress(OSError):
            for child in map(int, children.read_text().split()):
                yield child
                yield from descendants(child)
