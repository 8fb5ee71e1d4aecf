"""The runs of the studies, one after the other: begun, gone on with, or finished already."""

from __future__ import annotations

import fcntl
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from bench.published.listing import Task

from steelyard.errors import ExitCode, RecordError
from steelyard.study.model import Study
from steelyard.web.index import Index, ListedRun

FINISHED = frozenset({"decided", "budget_visits", "budget_time", "failures"})
"""How a run ends that has nothing left to measure."""
_LOCK = ".studies-full"


def run_of(task: Task, study: Study, results: Path) -> ListedRun | None:
    """The newest run of the study as its file reads now; those of an earlier text are others."""
    if not results.is_dir():
        return None
    wanted = (study.name, task.variant, study.sha256)
    for run in Index(results).listing().runs.values():
        if (run.facts.study, run.facts.variant, run.facts.study_sha256) == wanted:
            return run
    return None


def is_finished(run: ListedRun | None) -> bool:
    return run is not None and run.status in FINISHED


class Commands:
    """Runs ``steelyard``, one command at a time.

    Ctrl-C reaches the command by the terminal; SIGTERM is passed on to it. Either way it undoes
    what it changed, and no further one is started.
    """

    def __init__(self) -> None:
        self.asked = False
        self._child: subprocess.Popen[bytes] | None = None

    @contextmanager
    def listening(self) -> Iterator[None]:
        """For as long as the block lasts. A SIGHUP that is ignored (``nohup``) stays ignored."""
        numbers = [signal.SIGINT, signal.SIGTERM]
        if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:
            numbers.append(signal.SIGHUP)
        before = {number: signal.signal(number, self._stop) for number in numbers}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def run(self, *words: str, is_shown: bool = True) -> int:
        """The exit code of one command.

        Raises:
            KeyboardInterrupt: a signal asked to stop, before or meanwhile.
        """
        if self.asked:
            raise KeyboardInterrupt
        out = None if is_shown else subprocess.DEVNULL
        self._child = subprocess.Popen([sys.executable, "-m", "steelyard", *words], stdout=out)
        if self.asked:  # in between
            self._child.terminate()
        code = self._child.wait()
        if self.asked or code == ExitCode.INTERRUPTED:
            raise KeyboardInterrupt
        return code

    def _stop(self, number: int, _frame: FrameType | None) -> None:
        self.asked = True
        if number == signal.SIGTERM and self._child is not None:
            self._child.terminate()


def measured(task: Task, study: Study, results: Path, commands: Commands) -> int:
    """Runs one study to its end, or goes on with it; nothing where it has ended. The exit code.

    Raises:
        KeyboardInterrupt: a signal asked to stop.
    """
    run = run_of(task, study, results)
    if run is not None and is_finished(run):
        print(f"{task.title}: finished already, {run.key}", flush=True)
        return ExitCode.TRIALS_FAILED if run.status == "failures" else ExitCode.DONE
    if run is not None:
        print(f"{task.title}: goes on, {run.key}", flush=True)
        return commands.run("resume", str(run.path), "--wait")
    print(f"{task.title}: begins", flush=True)
    words = () if task.variant is None else ("--variant", task.variant)
    words += () if task.budget is None else ("--budget", task.budget)
    return commands.run("run", str(task.path), *words, "--results", str(results), "--wait")


@contextmanager
def alone(results: Path) -> Iterator[None]:
    """No other series has its runs in this folder meanwhile.

    Raises:
        RecordError: one has.
    """
    results.mkdir(parents=True, exist_ok=True)
    with (results / _LOCK).open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise RecordError(
                f"the studies are being run in {results} already",
                hint="wait for its end, or name another folder with RESULTS=",
                slug="run-is-in-use",
            ) from error
        yield
