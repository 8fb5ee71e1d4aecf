"""Studies of several users on the machines of one Slurm, whose parts are killed at random.

Every study is submitted by its user, who says the same again when the queue was away, and resumes
what was broken off, in so many words. Held against the records at the end: did two runs ever
measure one machine at once, was any lost, was any started twice? Needs root and Slurm's daemons
(`.ci/install`); everything else is made here: a network namespace, a controller, the nodes.

    python -m bench.queue --studies 20 --write-page
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from tests.platforms.slurm import TOOLS, Laboratory

from steelyard.hosts import lease
from steelyard.hosts.undo.log import pending_undos
from steelyard.records.archive import Run, runs_below
from steelyard.records.events import AttemptFinished, AttemptStarted, SessionClosed, SessionOpened
from steelyard.records.schema import Outcome
from steelyard.records.submission import FOLDER, last_submission, started_by

NODES = {"n1": "epyc", "n2": "epyc", "n3": "xeon", "n4": "xeon"}
USERS = ("mail", "news", "games")
PAGE = Path(__file__).parents[1] / "docs" / "guide" / "queue.md"
BEGIN, END = "<!-- figures: make bench-queue -->", "<!-- end of figures -->"
STUDY = """\
study: {name}
question: Does the second of two equal sinks serve faster than the first?
systems:
  one: {{platform: native, service: {{use: sink-http}}}}
  two: {{platform: native, service: {{use: sink-http}}}}
workload: {{use: http}}
load: {{users: 2}}
trials: {{margin: 20 %, window: 100 ms, warmup: 20 ms, budget: {{trials: 6 per cell}}}}
"""
PLACES = ((), ("--constraint", "epyc"), ("--constraint", "xeon"), ("--nodelist", "n2"))
_FOR_NOW = ("queue-is-away", "node-cannot-take-run", "queue-refuses")
"""Refusals that pass when what was killed is back."""
MOST_KILLS = 30
MOST_WORDS = 12
"""So often a user says a thing again before it counts as lost."""


@dataclass
class Bench:
    """One laboratory. ``said`` counts what users had to say again, ``kills`` what was killed."""

    lab: Laboratory
    random: random.Random
    command: Sequence[str]
    studies: dict[Path, str] = field(default_factory=dict)
    kills: Counter[str] = field(default_factory=Counter)
    said: Counter[str] = field(default_factory=Counter)
    over: threading.Event = field(default_factory=threading.Event)

    def steelyard(self, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
        own = {k: v for k, v in self.lab.environment.items() if k != lease.VARIABLE}
        return subprocess.run(
            self.lab.inside([*self.command, *words], self.studies[folder]),
            cwd=folder, env={**own, "HOME": str(folder), "NO_COLOR": "1"}, capture_output=True,
            text=True, check=False, timeout=600, stdin=subprocess.DEVNULL,
        )  # fmt: skip

    def submit(self, folder: Path, place: Sequence[str]) -> None:
        """The user's words, again as long as the queue is away."""
        for _ in range(MOST_WORDS):
            done = self.steelyard(folder, "submit", "study.yaml", *place)
            if done.returncode == 0 or "#already-queued" in done.stderr:
                return
            if not any(f"#{slug}" in done.stderr for slug in _FOR_NOW):
                print(done.stderr, file=sys.stderr)  # it counts as lost
                return
            self.said["submitted again, because the queue or a node was away"] += 1
            time.sleep(1)

    def submit_all(self) -> None:
        """Users side by side, each one study after the other."""

        def of(user: str) -> None:
            for folder in (f for f, owner in self.studies.items() if owner == user):
                self.submit(folder, self.random.choice(PLACES))

        threads = [threading.Thread(target=of, args=(user,)) for user in USERS]
        for each in threads:
            each.start()
        for each in threads:
            each.join()

    def wait_until_empty(self) -> None:
        while True:
            try:
                if drained := self.lab.put_back():
                    self.said["nodes that Slurm drained, put back by the operator"] += drained
                if not self.lab.ask("squeue", "-h", "--states=PD,R,CG").strip():
                    return
            except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
                pass  # the controller is away
            time.sleep(1)

    def kill_at_random(self, every_s: float) -> None:
        """Until it is over: a daemon, which comes back, or what a job has started.

        Not for ever: a controller that is killed every minute never finds that a job has gone.
        """
        parts = ["slurmctld", "slurmd", "session", "agent"]
        while self.kills.total() < MOST_KILLS:
            if self.over.wait(self.random.uniform(0.5, 1.5) * every_s):
                return
            part = self.random.choice(parts)
            if part in {"session", "agent"}:
                self.kills[part] += self._kill_process(
                    b"--queued" if part == "session" else b"\0agent"
                )
                continue
            name = part if part == "slurmctld" else self.random.choice(list(NODES))
            self.lab.kill(name)
            self.over.wait(self.random.uniform(0.5, 4.0))
            self.lab.start(name)
            self.kills[part] += 1

    def _kill_process(self, wanted: bytes) -> int:
        mine = f"SLURM_CONF={self.lab.folder}/".encode()
        found = [
            pid for pid in (int(p.name) for p in Path("/proc").iterdir() if p.name.isdigit())
            if wanted in _read(pid, "cmdline") and mine in _read(pid, "environ")
            and b"/job.sh" not in _read(pid, "cmdline")
        ]  # fmt: skip
        if not found:
            return 0
        os.kill(self.random.choice(found), signal.SIGKILL)
        return 1

    def runs(self) -> Iterator[tuple[Path, list[Run]]]:
        for folder in self.studies:
            yield folder, runs_below(folder / "results")


def _read(pid: int, name: str) -> bytes:
    try:
        return Path(f"/proc/{pid}/{name}").read_bytes()
    except OSError:
        return b""


def has_ended(run: Run) -> bool:
    closed = [event for event in run.events() if isinstance(event, SessionClosed)]
    return bool(closed) and closed[-1].reason not in {None, "interrupted"}


def attempts(run: Run) -> Iterator[tuple[str, int, int]]:
    """Node, begin and end of each attempt; one that was torn ends with the last event before the
    next.
    """
    numbers = sorted(int(p.name) for p in (run.path / FOLDER).glob("*") if p.name.isdecimal())
    began = [found for n in numbers if (found := started_by(run, n)) is not None]
    node, open_at, last = "", None, 0
    for event in run.events():
        if isinstance(event, SessionOpened):
            node = max(
                (each for each in began if each.started_unix_ns <= event.at_unix_ns),
                key=lambda each: each.started_unix_ns,
            ).node
        if open_at is not None and isinstance(
            event, (AttemptStarted, SessionOpened, AttemptFinished)
        ):
            yield node, open_at, event.at_unix_ns if isinstance(event, AttemptFinished) else last
            open_at = None
        if isinstance(event, AttemptStarted):
            open_at = event.at_unix_ns
        last = event.at_unix_ns


def overlaps(runs: Sequence[Run]) -> int:
    """Attempts that began on a node before one of another run there had ended."""
    spans = sorted((*each, str(run.path)) for run in runs for each in attempts(run))
    return sum(
        one[0] == other[0] and one[3] != other[3] and other[1] < one[2]
        for one, other in pairwise(spans)
    )


def figures(bench: Bench, wanted: int) -> dict[str, int]:
    every = dict(bench.runs())
    runs = [run for found in every.values() for run in found]
    ended = [run for run in runs if has_ended(run)]
    sessions = {run.path: sum(isinstance(e, SessionOpened) for e in run.events()) for run in runs}
    claimed = {
        run.path: sum(started_by(run, n) is not None for n in range(1, _last(run) + 1))
        for run in runs
    }
    good = [
        (run.path, record.trial) for run in runs for record in run.records()
        if record.outcome is Outcome.OK
    ]  # fmt: skip
    logs = [log.read_text() for run in runs for log in run.path.glob(f"{FOLDER}/*/*.log")]
    return {
        "studies": wanted,
        "jobs": sum(map(_last, runs)),
        "trials": len(good),
        "second starts by Slurm that were refused": sum("#run-was-started" in t for t in logs),
        "two runs on one machine at once": overlaps(runs),
        "studies lost": wanted - len(ended),
        "studies with two runs": sum(len(found) > 1 for found in every.values()),
        "sessions that no one asked for": sum(
            max(0, sessions[run.path] - claimed[run.path]) for run in runs
        ),
        "trials measured twice": len(good) - len(set(good)),
        "changes left on machines": sum(len(pending_undos(run.events())) for run in runs),
    }


def _last(run: Run) -> int:
    found = last_submission(run)
    return 0 if found is None else found.number


def carried_out(studies: int, seed: int, every_s: float, python: str) -> dict[str, Any]:
    """One laboratory from its begin to its figures."""
    began_s = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="steelyard-queue-") as name:
        folder = Path(name)
        chosen = random.Random(seed)  # noqa: S311 - which part is killed when
        bench = Bench(Laboratory(folder, NODES), chosen, (python, "-m", "steelyard"))
        for number in range(studies):
            user = USERS[number % len(USERS)]
            own = folder / "users" / f"s{number:02d}"
            own.mkdir(parents=True)
            (own / "study.yaml").write_text(STUDY.format(name=own.name))
            shutil.chown(own, user)
            bench.studies[own] = user
        try:
            bench.lab.begin()
            killing = threading.Thread(target=bench.kill_at_random, args=(every_s,))
            killing.start()
            try:
                bench.submit_all()
                bench.wait_until_empty()
            finally:
                bench.over.set()
                killing.join()
            for _ in range(MOST_WORDS):
                bench.lab.wait_for(bench.lab.is_whole)
                open_still = [
                    (f, r) for f, found in bench.runs() for r in found if not has_ended(r)
                ]
                for own, run in open_still:
                    bench.said["resumed, because the session was killed or cancelled"] += 1
                    bench.steelyard(own, "submit", "--resume", str(run.path))
                bench.wait_until_empty()
                if not open_still:
                    break
            for own, found in bench.runs():
                for run in (each for each in found if pending_undos(each.events())):
                    bench.said["restored, because a killed agent left it open in the ledger"] += 1
                    bench.steelyard(own, "restore", str(run.path))
            return {
                "killed": dict(bench.kills),
                "said": dict(bench.said),
                **figures(bench, studies),
                "seconds": round(time.monotonic() - began_s),
            }
        finally:
            bench.lab.end()


_TOLD = {"killed", "said", "studies", "jobs", "trials", "seconds"}
_WRONG = (
    "two runs on one machine at once",
    "studies lost",
    "studies with two runs",
    "sessions that no one asked for",
    "trials measured twice",
    "changes left on machines",
)


def table(found: dict[str, Any]) -> str:
    """The figures as a table of the guide."""
    rows = {
        f"{found['studies']} studies of {len(USERS)} users on {len(NODES)} machines": (
            f"{found['jobs']} jobs, {found['trials']} trials, {found['seconds']} s"
        ),
        "killed": ", ".join(f"{part} {n} times" for part, n in sorted(found["killed"].items())),
        **dict(sorted(found["said"].items())),
        **{what: count for what, count in found.items() if what not in _TOLD},
    }
    return "\n".join(["| | |", "|---|---|", *(f"| {what} | {n} |" for what, n in rows.items())])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--every", type=float, default=6.0, help="seconds from kill to kill")
    parser.add_argument("--python", default=sys.executable, help="one that all users may run")
    parser.add_argument("--write-page", action="store_true")
    given = parser.parse_args()
    if os.geteuid() != 0 or any(shutil.which(tool) is None for tool in TOOLS):
        print(f"needs root, and {', '.join(TOOLS)}", file=sys.stderr)
        return 3
    found = carried_out(given.studies, given.seed, given.every, given.python)
    print(json.dumps(found, indent=1))
    if given.write_page:
        before, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
        _, _, after = rest.partition(END)
        PAGE.write_text(f"{before}{BEGIN}\n\n{table(found)}\n\n{END}{after}", encoding="utf-8")
    return int(any(found[name] for name in _WRONG))


if __name__ == "__main__":
    sys.exit(main())
