"""The real command line with the real engine, on loopback and temporary folders only."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from steelyard.hosts import lease
from steelyard.records.archive import Run
from steelyard.records.schema import Outcome, TrialRecord

STUDY = """\
study: tiny
question: Does the second of two equal sinks serve faster than the first?
systems:
  one: {platform: native, service: {use: sink-smtp, store: maildir, sync: none}}
  two: {platform: native, service: {use: sink-smtp, store: maildir, sync: none}}
workload: {use: smtp, body: 1 KiB, recipients: 3}
load: {users: 2, think: 2 ms}
responses:
  throughput: {primary: true}
  response.p50: {}
  service.cpu: {}
gates: {errors: none}
generator: {calibrate: false}
trials:
  margin: 2 %
  window: 200 ms
  warmup: 20 ms
  reset: service
  budget: {trials: 6 per cell}
sample: {every: 100 ms}
"""
"""Its users think, and its generator is not calibrated: loads without end took half of its time."""

CALIBRATED = STUDY.replace("calibrate: false", "calibrate: true")

LONG_STUDY = STUDY.replace("users: 2,", "users: [1, 2],")
"""Of twice as many trials: time enough for another command while it runs."""

LONGEST_S = 600
"""Only for what hangs: no command takes a tenth of it on a machine that is not busy."""


@dataclass
class Steelyard:
    """Runs the command line in a folder; every process it starts carries a mark."""

    folder: Path
    mark: str = field(default_factory=lambda: uuid.uuid4().hex)
    form: str | None = "md"
    """Of reports, where none is asked for: charts take a third of a short run's processor time.
    ``None`` leaves it to the command."""

    @property
    def environment(self) -> dict[str, str]:
        own = {"STEELYARD_TEST_MARK": self.mark, "NO_COLOR": "1", "COLUMNS": "200"}
        return {**os.environ, **own, lease.VARIABLE: f"{self.folder}.lease"}

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "steelyard", *arguments, *self._form(arguments)]
        return subprocess.Popen(
            command,
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(
        self, *arguments: str, longest_s: float = LONGEST_S
    ) -> subprocess.CompletedProcess[str]:
        process = self.start(*arguments)
        try:
            stdout, stderr = process.communicate(timeout=longest_s)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise
        return subprocess.CompletedProcess(arguments, process.returncode, stdout, stderr)

    def _form(self, arguments: Sequence[str]) -> tuple[str, ...]:
        asked = arguments[0] not in {"run", "resume"} or "--format" in arguments
        return () if asked or self.form is None else ("--format", self.form)

    def processes(self) -> list[int]:
        """Every live process that this folder's commands started, whatever became of its parent."""
        wanted = f"STEELYARD_TEST_MARK={self.mark}".encode()
        return [pid for pid in _pids() if wanted in _environment(pid)]

    def wait_until_no_process(self, limit_s: float = 60) -> list[int]:
        """Processes that are still there after the limit."""
        end = time.monotonic() + limit_s
        while (left := self.processes()) and time.monotonic() < end:
            time.sleep(0.02)
        return left


def first_in_every_run(cases: Iterable[object]) -> list[object]:
    """The cases of a test; all but the first have the marker ``extended``."""
    first, *others = cases
    return [first, *(pytest.param(each, marks=pytest.mark.extended) for each in others)]


MOST_INVALID = 2


def assert_each_ended_well(records: Iterable[TrialRecord]) -> None:
    """Every trial has a good attempt.

    A busy machine may stand still for the whole of a short window. No operation ends in it then,
    which is invalid and is tried again; this may happen a few times, and nothing else may.
    """
    attempts = list(records)
    told = [(each.trial, each.outcome.value, each.failure) for each in attempts]
    good = {each.trial for each in attempts if each.outcome is Outcome.OK}
    assert good, told
    assert good == {each.trial for each in attempts}, told
    others = [each.outcome for each in attempts if each.outcome is not Outcome.OK]
    assert len(others) <= MOST_INVALID, told
    assert set(others) <= {Outcome.INVALID}, told


SEEDS = ("5", "6", "7")


def with_an_event(name: str, steelyard: Steelyard, run_it: Callable[[str], Run]) -> Run:
    """The run of the first seed that has this event, of those that follow from a decision.

    One study in twenty of a narrow margin shows, by chance, visits that seem to depend on the one
    before, and a busy machine may leave one open. Then nothing is decided, which is right, and
    what follows cannot be seen: another is run.
    """
    for seed in SEEDS:
        run = run_it(seed)
        if name in [event.event for event in run.events()]:
            return run
        shutil.rmtree(steelyard.folder / "results")
    pytest.fail(f"three studies in which nothing led to {name}")


def _pids() -> Iterator[int]:
    return (int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit())


def _environment(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return b""


@pytest.fixture
def steelyard(tmp_path: Path) -> Iterator[Steelyard]:
    (tmp_path / "study.yaml").write_text(STUDY, encoding="utf-8")
    tool = Steelyard(tmp_path)
    yield tool
    assert tool.wait_until_no_process() == [], "processes were left over"


@dataclass(frozen=True)
class Finished:
    """What came of one whole run of :data:`STUDY`, to be looked at only."""

    folder: Path
    done: subprocess.CompletedProcess[str]


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Finished:
    folder = tmp_path_factory.mktemp("finished")
    (folder / "study.yaml").write_text(STUDY, encoding="utf-8")
    tool = Steelyard(folder, form=None)
    done = tool.run("run", "study.yaml")
    assert done.returncode == 0, done.stderr
    assert tool.wait_until_no_process() == [], "processes were left over"
    return Finished(folder, done)


@pytest.fixture
def after_a_run(steelyard: Steelyard, finished: Finished) -> Steelyard:
    """In a folder with a finished run of its own."""
    shutil.copytree(finished.folder / "results", steelyard.folder / "results", symlinks=True)
    return steelyard
