"""The recording server (bench/peers/arrivals.c): built here, started for each attempt."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import numpy.typing as npt
from bench import compiled


class Sink:
    """One running server; stamps are there after `end`."""

    def __init__(self, process: subprocess.Popen[str], out: Path) -> None:
        self.process = process
        self.out = out
        self.told: dict[str, int] = {}
        assert process.stdout is not None
        self.address = process.stdout.readline().strip()

    @property
    def pid(self) -> int:
        return self.process.pid

    def end(self) -> None:
        """Stops it and keeps what it told."""
        self.process.terminate()
        output, _ = self.process.communicate(timeout=30)
        assert self.process.returncode == 0, "the recording server failed"
        self.told = json.loads(output)

    def arrivals_ns(self) -> npt.NDArray[np.int64]:
        """When each request was read."""
        return self._stamps()[:, 0]

    def delays_ns(self) -> npt.NDArray[np.int64]:
        """From the read of each request to its answer, of those answered."""
        stamps = self._stamps()
        answered = stamps[stamps[:, 1] > 0]
        delays: npt.NDArray[np.int64] = answered[:, 1] - answered[:, 0]
        return delays

    def counts(self) -> list[int]:
        """Requests of each second; only of a counting server."""
        return [int(n) for n in np.fromfile(self.out, dtype=np.int64)]

    def _stamps(self) -> npt.NDArray[np.int64]:
        return np.fromfile(self.out, dtype=np.int64).reshape(-1, 2)


@contextmanager
def running(folder: Path, *words: str) -> Iterator[Sink]:
    """A server on core 1, with further options of arrivals.c."""
    out = folder / "stamps"
    command = pinned([str(compiled.built("arrivals")), "-o", str(out), *words], 1)
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        yield Sink(process, out)
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
        if process.stdout is not None:
            process.stdout.close()


def pinned(command: list[str], core: int) -> list[str]:
    """The command on one core, where there are two."""
    return ["taskset", "-c", str(core % (os.cpu_count() or 1)), *command]
