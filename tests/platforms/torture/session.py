"""A controller that changes machines, killed at an instant, and what restores after it."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from tests.platforms.torture.studies import Torture

from steelyard.hosts.undo.ours import SCRATCH, mark_of
from steelyard.records.events import Undone, UndoPlanned
from steelyard.records.ledger import read_ledger

ROOT = Path(__file__).parents[3]
LONGEST_S = 600
"""For all that a session does between two looks; emulated guests boot on a busy machine."""
MOST_EVENTS_AFTER_THE_AGENT = 20

Victim = Literal["controller", "agent", "both", "ssh", "agent, then controller"]


@dataclass
class Session:
    """A driver that changes a machine; what it makes bears one of :attr:`marks`."""

    folder: Path
    address: str
    seed: int
    label: str = field(default_factory=lambda: f"steelyard-{uuid.uuid4().hex[:8]}")
    instant: str = ""
    events: int | None = None
    most_events: int = 90
    longest_delay_s: float = 0.15
    enter: tuple[str, ...] = ()
    sees: Callable[[], bool] | None = None
    """Waited for besides the instant: how long after an event a thing stands is not known."""

    @property
    def run(self) -> Path:
        return self.folder / "results" / "torture" / "1"

    @property
    def marks(self) -> list[str]:
        """Texts of which every name that the session gives to a thing holds one."""
        return [self.label, str(self.folder)]

    @property
    def files(self) -> list[Path]:
        """What the session made in its folder besides its records and has not removed."""
        return sorted((self.run / SCRATCH).glob("context-*"))

    @property
    def _environment(self) -> dict[str, str]:
        own = {"STEELYARD_MARK": self.label, "PYTHONPATH": f"{ROOT}/src:{ROOT}", "COLUMNS": "200"}
        return {**os.environ, **own}

    def outlive(self, victim: Victim) -> None:
        """Starts, kills at the instant of the seed, and waits until the controller has ended."""
        log = self.folder / "driver.log"
        words = self.words()
        with log.open("wb") as output:
            driver = subprocess.Popen(
                [*self.enter, sys.executable, "-m", *words],
                cwd=ROOT,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        try:
            self._wait_for_the_instant(driver, log)
            self._kill(driver, victim, log)
            driver.wait(LONGEST_S)
        finally:
            driver.kill()
            driver.wait()

    def words(self) -> list[str]:
        """The module that changes machines, and what it is told."""
        self.run.mkdir(parents=True)
        (self.run / "run.json").write_text("{}", encoding="utf-8")
        driver = ["tests.platforms.torture.driver", str(self.run), self.address, self.label]
        return [*driver, str(self.seed)]

    def restore(self) -> subprocess.CompletedProcess[str]:
        """As a user does it."""
        return subprocess.run(
            [*self.enter, sys.executable, "-m", "steelyard", "restore", str(self.run)],
            cwd=self.folder,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=LONGEST_S,
            check=False,
        )

    def _events(self) -> int:
        """Changes and their inverses so far; a run that is not there yet has none."""
        events = read_ledger(self.run / "ledger.jsonl") if self.run.exists() else []
        return sum(isinstance(event, UndoPlanned | Undone) for event in events)

    def _wait_for_the_instant(self, driver: subprocess.Popen[bytes], log: Path) -> None:
        chosen = random.Random(self.seed)
        events = chosen.randint(1, self.most_events)
        delay_s = chosen.uniform(0, self.longest_delay_s)
        events = self.events or events
        self.instant = f"{delay_s:.3f} s after event {events}"
        self._wait_for(events, driver, log)
        time.sleep(delay_s)
        end = time.monotonic() + LONGEST_S
        while self.sees is not None and not self.sees():
            assert driver.poll() is None, log.read_text(encoding="utf-8")
            assert time.monotonic() < end, f"it is never seen: {log.read_text()}"
            time.sleep(0.05)

    def _wait_for(self, events: int, driver: subprocess.Popen[bytes], log: Path) -> None:
        end = time.monotonic() + LONGEST_S
        while self._events() < events:
            assert driver.poll() is None, log.read_text(encoding="utf-8")
            assert time.monotonic() < end, f"the driver does nothing: {log.read_text()}"
            time.sleep(0.005)

    def _kill(self, driver: subprocess.Popen[bytes], victim: Victim, log: Path) -> None:
        agents = [pid for pid in _children(driver.pid) if _is_way_to_agent(pid)]
        if victim == "agent, then controller":
            chosen = random.Random(self.seed + 1)
            doomed = chosen.sample(agents, chosen.randint(min(1, len(agents)), len(agents)))
            more = self._events() + chosen.randint(1, MOST_EVENTS_AFTER_THE_AGENT)
            _end(doomed)
            self.instant += f", {len(doomed)} of {len(agents)} agents, controller at event {more}"
            self._wait_for(more, driver, log)
            agents = [driver.pid]
        _end({"controller": [driver.pid], "both": [*agents, driver.pid]}.get(victim, agents))


@dataclass
class StudySession(Session):
    """A real session: ``steelyard run`` of a study that changes the machine in every trial."""

    torture: Torture = field(kw_only=True)

    def __post_init__(self) -> None:
        self.most_events = self.torture.most_events
        self.longest_delay_s = self.torture.longest_delay_s

    @property
    def run(self) -> Path:
        """Its only run; none at first."""
        study = self.folder / "results" / "torture"
        runs = [path for path in study.glob("*") if (path / "run.json").exists()]
        return runs[0] if runs else study / "none yet"

    @property
    def marks(self) -> list[str]:
        return [*super().marks, f"steelyard-{mark_of(str(self.run / SCRATCH))}"]

    @property
    def files(self) -> list[Path]:
        return sorted((self.run / SCRATCH).rglob("*"))

    def words(self) -> list[str]:
        study = self.folder / "study.yaml"
        for path, text in {study.name: self.torture.study(), **self.torture.files}.items():
            (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / path).write_text(text, encoding="utf-8")
        return ["steelyard", "run", str(study), "--results", str(self.folder / "results")]


def _end(pids: list[int]) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def _children(pid: int) -> list[int]:
    tasks = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(child) for task in tasks for child in task.read_text().split()]


def _is_way_to_agent(pid: int) -> bool:
    """An agent here, or the ``ssh`` whose pipe leads to one."""
    try:
        return b"agent" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False
