"""A controller in a process of its own, forked from one that has everything loaded already."""

from __future__ import annotations

import math
import multiprocessing
import os
import sys
import time
from multiprocessing.context import ForkServerContext
from multiprocessing.process import BaseProcess
from pathlib import Path
from threading import Lock

from bench.torture.faults import Steps
from bench.torture.messages import KILL_AGENT, Messages
from bench.torture.network import enter

PRELOADED = [
    "bench.torture.controller",
    "steelyard.cli.entry",
    "steelyard.cli.main",
    "steelyard.cli.session.run",
    "steelyard.cli.session.restore",
    "steelyard.report.formats.json",
    "steelyard.judge.verdict",
    "bench.torture.ready",
]
MARK = "STEELYARD_TORTURE"
STUDIES = "results"
LONGEST_S = 300.0
"""Without a line in the ledger: on a busy machine a session may take longer, and is not stuck."""


_ONE_AT_A_TIME = Lock()
"""Starting a process asks all others whether they have ended, and an exit code is told only once:
of two threads that ask, one would hear 255.
"""


class Controller:
    """One that was started."""

    def __init__(self, process: BaseProcess) -> None:
        with _ONE_AT_A_TIME:
            process.start()
        self._process = process
        self.pid = process.pid or 0

    @property
    def exitcode(self) -> int | None:
        """``None`` while it runs."""
        with _ONE_AT_A_TIME:
            return self._process.exitcode

    def join(self, timeout_s: float = math.inf) -> None:
        """Until it has ended, or for so long."""
        end_s = time.monotonic() + timeout_s
        while self.exitcode is None and time.monotonic() < end_s:
            time.sleep(min(0.02, timeout_s))

    def kill(self) -> None:
        """At once."""
        self._process.kill()


class Controllers:
    """Starts them."""

    def __init__(self) -> None:
        self._context: ForkServerContext = multiprocessing.get_context("forkserver")
        self._context.set_forkserver_preload(PRELOADED)

    def start(
        self, folder: Path, words: list[str], network: str | None, fault: str = "", at: int = 0
    ) -> Controller:
        """``steelyard WORDS`` in ``folder``; what it says lies in ``said`` beside the folder."""
        return Controller(
            self._context.Process(target=_run, args=(str(folder), words, network, fault, at))
        )


def said(folder: Path) -> Path:
    """What the controllers of a folder printed, all in one file."""
    return folder.with_suffix(".said")


def note(folder: Path) -> Path:
    """At which step the fault happened, or how many steps there were."""
    return folder.with_suffix(".step")


def _run(folder: str, words: list[str], network: str | None, fault: str, at: int) -> None:
    place = Path(folder)
    if network is not None:
        enter(network)
    os.chdir(place)
    out = os.open(said(place), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.write(out, f"$ steelyard {' '.join(words)}\n".encode())
    for stream in (1, 2):
        os.dup2(out, stream)
    os.environ |= {MARK: folder, "STEELYARD_LEASE": f"{folder}.lease", "NO_COLOR": "1"}
    sys.argv = ["steelyard", *words]
    from steelyard.cli.entry import main  # noqa: PLC0415 - preloaded, and after the environment

    steps = Steps(f"{folder}/{STUDIES}", fault, at, note(place))
    messages = Messages(at, note(place))
    if fault and fault != KILL_AGENT:
        steps.install()
    if fault == KILL_AGENT or (fault and not at):
        messages.install()
    try:
        main()
    finally:
        if fault and not at:
            steps.tell_count(messages.count)
