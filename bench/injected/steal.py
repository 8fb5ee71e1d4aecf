"""Stolen time: the counter of a hypervisor stands in, what it takes is really taken.

No hypervisor steals from this machine on request. So the study sees a file in place of
``/proc/stat`` that follows the true one, and while the fault is on says that three tenths of the
time were stolen; for so long its service is stopped.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from contextlib import suppress
from pathlib import Path

from bench.injected.machine import descendants

_PERIOD_S = 0.05
_SHARE = 0.3
_TICKS = os.sysconf("SC_CLK_TCK")
_STEAL, _IDLE = 8, 4
_LENGTH = 64 * 1024


class StolenTime:
    """Writes ``path`` until it is closed; ``root`` is the controller whose service is stopped."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.root: int | None = None
        self.on = False
        self._stolen_s = 0.0
        self._ended = threading.Event()
        self._write()
        self._thread = threading.Thread(target=self._follow, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._ended.set()
        self._thread.join()

    def _follow(self) -> None:
        while not self._ended.is_set():
            if self.on:
                self._steal()
            else:
                time.sleep(_PERIOD_S)
            self._write()

    def _steal(self) -> None:
        services = [pid for pid in descendants(self.root or 0) if _serves(pid)]
        began_s = time.monotonic()
        try:
            _signal(services, signal.SIGSTOP)
            time.sleep(_PERIOD_S * _SHARE)
        finally:
            _signal(services, signal.SIGCONT)
        time.sleep(_PERIOD_S * (1 - _SHARE))
        self._stolen_s += (time.monotonic() - began_s) * _SHARE

    def _write(self) -> None:
        lines = Path("/proc/stat").read_text(encoding="ascii").splitlines()
        fields = lines[0].split()
        ticks = round(self._stolen_s * _TICKS * (os.cpu_count() or 1))
        fields[_STEAL] = str(int(fields[_STEAL]) + ticks)
        fields[_IDLE] = str(int(fields[_IDLE]) - ticks)
        text = "\n".join([f"{fields[0]}  {' '.join(fields[1:])}", *lines[1:]])
        descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT, 0o644)
        try:  # in one call and always as long, as it is read at any moment
            os.pwrite(descriptor, f"{text}\n".ljust(_LENGTH, "\n").encode(), 0)
        finally:
            os.close(descriptor)


def _serves(pid: int) -> bool:
    with suppress(OSError):
        return b"sink" in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[:2]
    return False


def _signal(pids: list[int], number: signal.Signals) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, number)
