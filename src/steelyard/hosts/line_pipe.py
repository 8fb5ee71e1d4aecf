"""A conversation in lines with a program behind a way: every wait has a deadline."""

from __future__ import annotations

import contextlib
import queue
import subprocess
import threading
import time
from collections.abc import Sequence
from typing import IO

from steelyard.hosts.failures import SystemFailure


class LinePipe:
    """A running program; lines go to its stdin and come from its stdout."""

    def __init__(self, argv: Sequence[str]) -> None:
        """Raises ``SystemFailure`` (``unreachable``) when it cannot be started."""
        try:
            self._process = subprocess.Popen(
                list(argv),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
                text=True,
            )
        except OSError as error:
            message = f"cannot start {argv[0]}: {error.strerror}"
            raise SystemFailure("unreachable", message) from error
        self._lines: queue.Queue[str | None] = queue.Queue()
        self._reader = threading.Thread(
            target=self._read, args=(self._process.stdout,), daemon=True
        )
        self._reader.start()

    def send(self, line: str) -> None:
        """One line; a pipe that is broken shows when the answer is awaited."""
        stdin = self._process.stdin
        with contextlib.suppress(BrokenPipeError, ValueError):
            if stdin is not None:
                stdin.write(line + "\n")
                stdin.flush()

    def receive(self, *, until_s: float) -> str:
        """The next line; ``until_s`` is a time of ``time.monotonic``.

        Raises:
            SystemFailure: ``unreachable`` when the far end is gone, ``timed_out``.
        """
        try:
            line = self._lines.get(timeout=max(0.0, until_s - time.monotonic()))
        except queue.Empty:
            raise SystemFailure("timed_out", "no answer came in time") from None
        if line is None:
            self._lines.put(None)
            raise SystemFailure("unreachable", "the far end has closed the conversation")
        return line

    def close(self) -> None:
        """Ends the program."""
        stdin, stdout = self._process.stdin, self._process.stdout
        with contextlib.suppress(BrokenPipeError):
            if stdin is not None:
                stdin.close()
        try:
            self._process.wait(2)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._reader.join()
        if stdout is not None:
            stdout.close()

    def _read(self, stdout: IO[str]) -> None:
        for line in stdout:
            self._lines.put(line)
        self._lines.put(None)
