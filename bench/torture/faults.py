"""Faults at the n-th step with which a controller makes its records: in its own process, for real.

A step is a call of the system that opens, writes, syncs, names or removes something below one
folder. All of them are counted; at the n-th, or from the n-th on, the fault happens in its place.
A short write leaves half of the bytes in the file, as a disk does that is full in the middle.
"""

from __future__ import annotations

import builtins
import errno
import io
import os
import signal
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

LASTING = {"disk full from here on": errno.ENOSPC, "read-only from here on": errno.EROFS}
ONCE = {"no space": errno.ENOSPC, "input/output error": errno.EIO}
KILL = "kill -9"
POWER_CUT = "power cut"
"""The controller stops there: who started it cuts the disk and kills."""
SHORT = "short write"
_SIGNALS = {KILL: signal.SIGKILL, POWER_CUT: signal.SIGSTOP}
FAULTS = (KILL, *ONCE, SHORT, *LASTING)
_NAMING = ("rename", "mkdir", "unlink", "rmdir")
_OPENS_FOR_WRITING = os.O_CREAT | os.O_WRONLY | os.O_RDWR
_REAL = {name: getattr(os, name) for name in ("open", "write", "fsync", "ftruncate", *_NAMING)}
_real_open = io.open


@dataclass
class Steps:
    """Counts the steps below ``folder``, and does ``fault`` at number ``at``; 0 does none.

    ``note`` is the file that says which step it was; without a fault how many there were, how many
    of them until the first trial was recorded, and how many messages to agents.
    """

    folder: str
    fault: str
    at: int
    note: Path
    count: int = 0
    first_trial: int = 0
    told: bool = False
    _half: set[int] = field(default_factory=set)

    def install(self) -> None:
        """From now on, in this process."""
        os.open = self._opened  # type: ignore[assignment]
        os.write = self._written
        os.fsync = self._of_descriptor("fsync")
        os.ftruncate = self._of_descriptor("ftruncate")
        for name in _NAMING:
            setattr(os, name, self._of_path(name))
        io.open = builtins.open = self._file_opened  # type: ignore[assignment]

    def tell_count(self, messages: int) -> None:
        """At the end of a session in which nothing was to happen."""
        self._tell(f"{self.first_trial} {messages}")

    def step(self, what: str, *, writes: bool = False) -> bool:
        """One more; returns whether this write is to be a short one: the first from number ``at``.

        Raises:
            OSError: it is the one that fails.
        """
        self.count += 1
        if not self.first_trial and what.startswith("rename") and "/trials/" in what:
            self.first_trial = self.count
        if self.at == 0 or self.count < self.at:
            return False
        if self.fault in LASTING:
            self._tell(what)
            if writes or what.partition(" ")[0] not in {"unlink", "rmdir", "ftruncate"}:
                self._fail(LASTING[self.fault])
            return False
        if self.told or (self.fault == SHORT and not writes):
            return False
        self._tell(what)
        if self.fault in _SIGNALS:
            os.kill(os.getpid(), _SIGNALS[self.fault])
        if self.fault in ONCE:
            self._fail(ONCE[self.fault])
        return writes

    def written(self, descriptor: int, data: Any, write: Callable[[Any], int]) -> int:
        """A write, of which half may reach the file; what is tried after that half fails."""
        if descriptor in self._half:
            self._half.discard(descriptor)
            self._fail(errno.ENOSPC)
        if not self.step(f"write {_path_of(descriptor)}", writes=True):
            return write(data)
        self._half.add(descriptor)
        return write(memoryview(data).cast("B")[: max(1, memoryview(data).nbytes // 2)])

    def _fail(self, number: int) -> None:
        raise OSError(number, os.strerror(number))

    def _tell(self, what: str) -> None:
        if not self.told:
            self.told = True
            file = _REAL["open"](self.note, os.O_WRONLY | os.O_CREAT, 0o600)
            _REAL["write"](file, f"{self.count} {what}".encode())
            os.close(file)

    def _concerns(self, path: Any) -> bool:
        if isinstance(path, int):
            return False
        return os.path.normpath(Path.cwd() / os.fspath(path)).startswith(self.folder)

    def _opened(self, path: Any, flags: int, *rest: Any, **named: Any) -> int:
        if flags & _OPENS_FOR_WRITING and "dir_fd" not in named and self._concerns(path):
            self.step(f"open {path}")
        descriptor: int = _REAL["open"](path, flags, *rest, **named)
        return descriptor

    def _written(self, descriptor: int, data: Any) -> int:
        def write(part: Any) -> int:
            done: int = _REAL["write"](descriptor, part)
            return done

        if not _path_of(descriptor).startswith(self.folder):
            return write(data)
        return self.written(descriptor, data, write)

    def _of_descriptor(self, name: str) -> Callable[..., Any]:
        def call(descriptor: int, *rest: Any) -> Any:
            path = _path_of(descriptor)
            if path.startswith(self.folder):
                self.step(f"{name} {path}")
            return _REAL[name](descriptor, *rest)

        return call

    def _of_path(self, name: str) -> Callable[..., Any]:
        def call(path: Any, *rest: Any, **named: Any) -> Any:
            if self._concerns(path):
                self.step(f"{name} {path}")
            return _REAL[name](path, *rest, **named)

        return call

    def _file_opened(self, file: Any, mode: str = "r", *rest: Any, **named: Any) -> Any:
        if not set(mode) & set("wxa+") or not self._concerns(file):
            return _real_open(file, mode, *rest, **named)
        self.step(f"open {file}")
        raw = _Raw(os.fspath(file), mode.replace("b", "").replace("t", ""))
        raw.steps = self
        buffered = io.BufferedWriter(raw)
        return buffered if "b" in mode else io.TextIOWrapper(buffered, **named)


class _Raw(io.FileIO):
    """A file each of whose writes is a step."""

    steps: Steps

    def write(self, data: Any) -> int:
        return self.steps.written(self.fileno(), data, super().write)


def _path_of(descriptor: int) -> str:
    try:
        return str(Path(f"/proc/self/fd/{descriptor}").readlink())
    except OSError:
        return ""
