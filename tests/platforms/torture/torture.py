"""Kills a session at an instant, restores, and looks whether the machine is as it was found."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
import uuid
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from steelyard.hosts.environment import Difference, Environment, differences, snapshot
from steelyard.hosts.host import Host
from steelyard.hosts.machines import Machines
from steelyard.hosts.undo import pending_undos
from steelyard.records.ledger import read_ledger

ROOT = Path(__file__).parents[3]
LONGEST_S = 180
MOST_EVENTS = 90
LONGEST_DELAY_S = 0.15

Victim = Literal["controller", "agent", "both", "ssh"]


@dataclass
class Session:
    """A driver that changes a machine; everything it makes bears :attr:`label`."""

    folder: Path
    address: str
    seed: int
    label: str = field(default_factory=lambda: f"steelyard-{uuid.uuid4().hex[:8]}")
    instant: str = ""
    events: int | None = None

    @property
    def run(self) -> Path:
        return self.folder / "results" / "torture" / "1"

    @property
    def _environment(self) -> dict[str, str]:
        own = {"STEELYARD_MARK": self.label, "PYTHONPATH": f"{ROOT}/src:{ROOT}", "COLUMNS": "200"}
        return {**os.environ, **own}

    def outlive(self, victim: Victim) -> None:
        """Starts, kills at the instant of the seed, and waits until the controller has ended."""
        self.run.mkdir(parents=True)
        (self.run / "run.json").write_text("{}", encoding="utf-8")
        log = self.folder / "driver.log"
        words = ["tests.platforms.torture.driver", str(self.run), self.address, self.label]
        with log.open("wb") as output:
            driver = subprocess.Popen(
                [sys.executable, "-m", *words, str(self.seed)],
                cwd=ROOT,
                env={
                    **os.environ,
                    "STEELYARD_MARK": self.label,
                    "PYTHONPATH": f"{ROOT}/src:{ROOT}",
                },
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        try:
            self._wait_for_the_instant(driver, log)
            self._kill(driver.pid, victim)
            driver.wait(LONGEST_S)
        finally:
            driver.kill()
            driver.wait()

    def restore(self) -> subprocess.CompletedProcess[str]:
        """As a user does it."""
        return subprocess.run(
            [sys.executable, "-m", "steelyard", "restore", str(self.run)],
            cwd=self.folder,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=LONGEST_S,
            check=False,
        )

    def _events(self) -> int:
        return len(read_ledger(self.run / "ledger.jsonl"))

    def _wait_for_the_instant(self, driver: subprocess.Popen[bytes], log: Path) -> None:
        chosen = random.Random(self.seed)
        events, delay_s = chosen.randint(1, MOST_EVENTS), chosen.uniform(0, LONGEST_DELAY_S)
        events = self.events or events
        self.instant = f"{delay_s:.3f} s after event {events}"
        end = time.monotonic() + LONGEST_S
        while self._events() < events:
            assert driver.poll() is None, log.read_text(encoding="utf-8")
            assert time.monotonic() < end, f"the driver does nothing: {log.read_text()}"
            time.sleep(0.005)
        time.sleep(delay_s)

    def _kill(self, controller: int, victim: Victim) -> None:
        agents = [pid for pid in _children(controller) if _is_way_to_agent(pid)]
        doomed = {"controller": [controller], "both": [*agents, controller]}.get(victim, agents)
        for pid in doomed:
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


def survive(folder: Path, address: str, seed: int, victim: Victim) -> None:
    """One session, one kill, one restore; then the machine is as before.

    Of other things on the machine only values of the kernel are looked at: whoever works beside
    these tests may mount and start what they like.
    """
    with Machines() as machines:
        before = snapshot(machines.open("local"))
        session = Session(folder, address, seed)
        try:
            session.outlive(victim)
        finally:
            done = session.restore()
        when = f"seed {seed}, {victim} killed {session.instant}\n{done.stdout}{done.stderr}"
        assert done.returncode == 0, when
        assert pending_undos(read_ledger(session.run / "ledger.jsonl")) == [], when
        assert traces(machines.open("local"), before, session) == [], when


def traces(host: Host, before: Environment, session: Session) -> list[str]:
    """What is on the machine now that the session made, and every value that it changed."""
    after = snapshot(host, session.label)
    processes = [f"process {pid}: {what}" for pid, what in after["process"].items()]
    found = differences(before | {"process": {}}, after | {"process": {}})
    return processes + [str(one) for one in found if _of_us(one, session)]


def _of_us(difference: Difference, session: Session) -> bool:
    if difference.reason is not None:
        return False
    said = str(difference)
    return difference.kind == "value" or session.label in said or str(session.folder) in said
