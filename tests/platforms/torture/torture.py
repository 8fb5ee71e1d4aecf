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

STUDY = """\
study: torture
question: Does a machine that is changed all the time come back as it was?
systems:
  disks:
    platform: native
    service: {use: sink-smtp, store: maildir, sync: none}
    disks: {data: {count: 2, size: 128 MiB, layout: own-raid1, filesystem: btrfs}}
    settings:
      {scheduler: mq-deadline, read_ahead: 64 KiB, cgroup: {cpus: 0.9}, sysctl: {vm.swappiness: 13}}
  box:
    platform: podman
    network: lab
    service: {use: sink-smtp, store: maildir, sync: none}
    host_settings: {sysctl: {vm.dirty_bytes: 536870912}}
workload: {use: smtp, body: 1 KiB, recipients: 3}
load: {users: 1}
generator: {calibrate: false}
responses: {throughput: {primary: true}}
trials:
  {margin: 2 %, window: 100 ms, warm_up: 20 ms, reset: process, budget: {trials: 20 per cell}}
sample: {every: 100 ms}
"""

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
        log = self.folder / "driver.log"
        words = self.words()
        with log.open("wb") as output:
            driver = subprocess.Popen(
                [sys.executable, "-m", *words],
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

    def words(self) -> list[str]:
        """The module that changes machines, and what it is told."""
        self.run.mkdir(parents=True)
        (self.run / "run.json").write_text("{}", encoding="utf-8")
        driver = ["tests.platforms.torture.driver", str(self.run), self.address, self.label]
        return [*driver, str(self.seed)]

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
        """Changes and their inverses so far; a run that is not there yet has none."""
        events = read_ledger(self.run / "ledger.jsonl") if self.run.exists() else []
        return sum(event["event"] in {"undo_planned", "undone"} for event in events)

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


@dataclass
class StudySession(Session):
    """A real session: ``steelyard run`` of a study that changes the machine in every trial."""

    @property
    def run(self) -> Path:
        """Its only run; none at first."""
        study = self.folder / "results" / "torture"
        runs = [path for path in study.glob("*") if (path / "run.json").exists()]
        return runs[0] if runs else study / "none yet"

    def words(self) -> list[str]:
        study = self.folder / "study.yaml"
        study.write_text(STUDY, encoding="utf-8")
        return ["steelyard", "run", str(study), "--results", str(self.folder / "results")]


def _children(pid: int) -> list[int]:
    tasks = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(child) for task in tasks for child in task.read_text().split()]


def _is_way_to_agent(pid: int) -> bool:
    """An agent here, or the ``ssh`` whose pipe leads to one."""
    try:
        return b"agent" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


def survive(session: Session, victim: Victim) -> None:
    """One session, one kill, one restore; then the machine is as before.

    Of other things on the machine only values of the kernel are looked at: whoever works beside
    these tests may mount and start what they like.
    """
    with Machines() as machines:
        before = snapshot(machines.open("local"))
        try:
            session.outlive(victim)
        finally:
            done = session.restore()
        when = f"seed {session.seed}, {victim} killed {session.instant}\n{done.stdout}{done.stderr}"
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
