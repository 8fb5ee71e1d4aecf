"""``steelyard submit`` on a real slurmctld and four real slurmd: once, wherever it breaks."""

from __future__ import annotations

import contextlib
import json
import os
import platform
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.integration.conftest import LONG_STUDY, STUDY, Steelyard
from tests.platforms.several import reached
from tests.platforms.slurm import Laboratory, laboratory
from tests.platforms.sshd import Sshd

from steelyard.hosts import lease
from steelyard.records.archive import Run, open_run
from steelyard.records.events import SessionOpened, Undone, UndoPlanned
from steelyard.records.submission import comment_of, last_submission

NODES = {"n1": "epyc", "n2": "epyc", "n3": "xeon", "n4": "xeon"}
WITHIN_S = 300.0
ON_MACHINES = """\
study: day
question: Are large systems of equations solved as often as small ones?
machines: [ssh://n1, ssh://n2]
systems: {here: {platform: native}}
factors: {workload.n: [60, 300]}
compare: workload.n
workload: {use: linpack}
sample: {every: 100 ms}
trials: {margin: 10 %, budget: {trials: 6 per cell}}
"""


@dataclass
class Submitting(Steelyard):
    """The command line within the network of a laboratory; each node has a lease of its own."""

    lab: Laboratory | None = None

    @property
    def environment(self) -> dict[str, str]:
        assert self.lab is not None
        own = {k: v for k, v in super().environment.items() if k != lease.VARIABLE}
        return {**own, **{k: self.lab.environment[k] for k in ("SLURM_CONF", "TZ")}}

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        assert self.lab is not None
        return subprocess.Popen(
            self.lab.inside([sys.executable, "-m", "steelyard", *arguments]),
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def submitted(self, *arguments: str) -> list[Run]:
        done = self.run("submit", *arguments, "--json")
        assert done.returncode == 0, done.stderr
        return [Run(Path(each["path"])) for each in json.loads(done.stdout)["queued"]]

    def listed(self, run: Run) -> dict[str, Any]:
        found = json.loads(self.run("runs", "--json").stdout)["runs"]
        return next(each for each in found if each["path"] == str(run.path))

    def wait(self, is_so: Callable[[], bool]) -> None:
        assert self.lab is not None
        self.lab.wait_for(is_so, WITHIN_S)

    def jobs(self, run: Run, states: str) -> list[str]:
        """The nodes of each job that the queue has of the last submission."""
        assert self.lab is not None
        last = last_submission(run)
        assert last is not None
        said = self.lab.ask("squeue", "-h", f"--states={states}", "-o", "%N|%k")
        jobs = (line.split("|", 1) for line in said.splitlines())
        return [nodes for nodes, comment in jobs if comment == comment_of(run, last.number)]

    def ended(self, run: Run) -> dict[str, Any]:
        """The run as it is listed when the queue has it no more."""
        self.wait(lambda: not self.jobs(run, "PD,R,CG"))
        return self.listed(run)


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Laboratory]:
    with laboratory(tmp_path_factory.mktemp("lab"), NODES) as made:
        yield made


@pytest.fixture
def tool(tmp_path: Path, lab: Laboratory) -> Iterator[Submitting]:
    (tmp_path / "study.yaml").write_text(STUDY, encoding="utf-8")
    (tmp_path / "long.yaml").write_text(LONG_STUDY, encoding="utf-8")
    tool = Submitting(tmp_path, lab=lab)
    yield tool
    assert tool.wait_until_no_process() == [], "processes were left over"


def sessions(run: Run) -> int:
    return sum(isinstance(event, SessionOpened) for event in run.events())


def left_to_undo(run: Run) -> set[int]:
    events = run.events()
    planned = {event.undo for event in events if isinstance(event, UndoPlanned)}
    return planned - {event.undo for event in events if isinstance(event, Undone)}


def has_begun(run: Run) -> bool:
    return any(run.path.glob("trials/0001-1/record.json"))


def session_of(tool: Submitting, run: Run) -> int:
    """The process of the session that a job runs."""
    wanted = f"resume\0{run.path}\0--queued".encode()
    found = [pid for pid in tool.processes() if wanted in _command_line(pid)]
    assert len(found) == 1
    return found[0]


def _command_line(pid: int) -> bytes:
    """Empty of a process that has ended meanwhile."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    return b""


def test_a_run_is_queued_once_and_measured_once_whatever_is_started_again(
    tool: Submitting,
) -> None:
    (run,) = tool.submitted("study.yaml", "--constraint", "epyc")
    again = tool.run("submit", "study.yaml", "--constraint", "epyc")
    assert (again.returncode, "already-queued" in again.stderr) == (3, True)
    row = tool.ended(run)
    assert (row["status"], row["queue"]["state"]) == ("budget_visits", "ended")
    assert row["queue"]["nodes"] in {"n1", "n2"}
    assert f"records: {row['path']}"[-20:] in Path(row["queue"]["log"]).read_text()
    before = run.events()
    assert tool.lab is not None
    script = str(run.path / "queue" / "1" / "job.sh")
    tool.lab.ask("sbatch", "--wait", f"--output={tool.folder}/again.log", script, check=False)
    assert "run-was-started" in (tool.folder / "again.log").read_text()
    assert run.events() == before
    assert sessions(run) == 1


def test_a_killed_session_is_undone_and_goes_on_by_word_on_the_same_node(tool: Submitting) -> None:
    (run,) = tool.submitted("long.yaml", "--nodelist", "n3")
    tool.wait(lambda: has_begun(run))
    os.kill(session_of(tool, run), signal.SIGKILL)
    row = tool.ended(run)
    assert (row["status"], row["queue"]["state"]) == ("open", "failed")
    assert left_to_undo(run) == set()
    time.sleep(2)  # a scheduler that would start it again does so within a second
    assert sessions(run) == 1
    measured = len(run.records())
    more = tool.run("submit", "--resume", str(run.path))
    assert more.returncode == 0, more.stderr
    row = tool.ended(run)
    assert (row["queue"]["number"], row["queue"]["state"]) == (2, "ended")
    assert row["queue"]["nodes"] == "n3"
    keys = [(record.trial, record.attempt) for record in run.records()]
    assert len(keys) == len(set(keys)) > measured
    assert sessions(run) == 2


@pytest.mark.extended
def test_what_waits_is_cancelled_at_once_and_what_runs_undoes_its_changes(tool: Submitting) -> None:
    (first,) = tool.submitted("long.yaml", "--nodelist", "n4")
    (second,) = tool.submitted("study.yaml", "--nodelist", "n4")
    tool.wait(lambda: has_begun(first))
    assert tool.listed(second)["queue"]["state"] == "pending"
    done = tool.run("runs", "cancel", second.key, first.key, "--json")
    assert done.returncode == 0, done.stderr
    assert [row["state"] for row in json.loads(done.stdout)] == ["cancelled", "cancelled"]
    assert (sessions(first), sessions(second)) == (1, 0)
    assert tool.listed(first)["status"] == "interrupted"
    assert left_to_undo(first) == set()


@pytest.mark.system  # a slurmctld that was killed may keep a job that is gone, or drain its node
def test_daemons_that_crash_neither_lose_a_run_nor_start_it_twice(tool: Submitting) -> None:
    assert tool.lab is not None
    (run,) = tool.submitted("long.yaml", "--nodelist", "n1")
    tool.wait(lambda: has_begun(run))
    for daemon in ("slurmctld", "n1"):
        tool.lab.kill(daemon)
    try:
        time.sleep(1)
        assert session_of(tool, run)
    finally:
        for daemon in ("n1", "slurmctld"):
            tool.lab.start(daemon)
    row = tool.ended(run)
    tool.wait(tool.lab.is_mended)
    assert sessions(run) == 1
    if row["status"] != "budget_visits":  # Slurm had not saved that it runs, and killed it
        assert tool.run("submit", "--resume", str(run.path)).returncode == 0
        row = tool.ended(run)
    assert row["status"] == "budget_visits"
    assert left_to_undo(run) == set()
    keys = [(record.trial, record.attempt) for record in run.records()]
    assert len(keys) == len(set(keys))


@pytest.mark.extended
def test_each_node_of_a_kind_has_a_run_of_its_own(tool: Submitting) -> None:
    runs = tool.submitted("study.yaml", "--nodelist", "n[1-2]", "--each-node")
    rows = [tool.ended(run) for run in runs]
    assert [row["queue"]["nodes"] for row in rows] == ["n1", "n2"]
    assert [sessions(run) for run in runs] == [1, 1]
    assert len({open_run(run.path).plan().seed for run in runs}) == 2


@pytest.mark.parametrize(
    ("words", "slug"),
    [
        (("--constraint", "arm64"), "node-cannot-take-run"),
        (("--nodelist", "n9"), "node-cannot-take-run"),
        (("--partition", "short"), "node-cannot-take-run"),
        (("--gres", "board:2"), "queue-refuses"),
        (("--each-node",), "machines-of-another-kind"),
    ],
)
def test_what_the_queue_cannot_do_is_refused_before_a_run_is_made(
    tool: Submitting, words: tuple[str, ...], slug: str
) -> None:
    refused = tool.run("submit", "study.yaml", *words)
    assert (refused.returncode, f"#{slug}" in refused.stderr) == (3, True), refused.stderr
    assert not (tool.folder / "results").exists()
    if slug == "machines-of-another-kind":
        assert f"architecture {platform.machine()}" in refused.stderr


@pytest.mark.extended
def test_a_drained_node_is_refused_with_its_reason(tool: Submitting) -> None:
    assert tool.lab is not None
    tool.lab.ask("scontrol", "update", "nodename=n4", "state=drain", "reason=fan | broken")
    try:
        refused = tool.run("submit", "study.yaml", "--nodelist", "n4")
    finally:
        tool.lab.put_back()
    assert "#node-cannot-take-run" in refused.stderr
    assert "fan | broken" in refused.stderr


@pytest.mark.extended
def test_a_queue_that_is_away_is_refused_with_what_to_do(tool: Submitting) -> None:
    assert tool.lab is not None
    tool.lab.stop("slurmctld")
    try:
        away = tool.run("submit", "study.yaml")
    finally:
        tool.lab.start("slurmctld")
        tool.wait(tool.lab.is_mended)
    assert (away.returncode, "#queue-is-away" in away.stderr) == (3, True), away.stderr
    assert not (tool.folder / "results").exists()


def test_machines_of_a_study_are_asked_for_all_together(tool: Submitting) -> None:
    study = STUDY.replace("systems:", "machines: [ssh://n2, ssh://root@n1]\nsystems:")
    (tool.folder / "several.yaml").write_text(study, encoding="utf-8")
    done = tool.run("submit", "several.yaml", "--dry-run")
    assert done.returncode == 0, done.stderr
    assert {"--nodes=2", "--nodelist=n2,n1", "--exclusive", "--no-requeue"} <= set(
        done.stdout.split()
    )


@dataclass
class OfNode(Sshd):
    """The ssh server of a node, on the machine that its slurmd is on."""

    lab: Laboratory | None = None

    def argv(self) -> list[str]:
        assert self.lab is not None
        return self.lab.inside(self.lab.on_node(self.folder.name, super().argv()))

    def greets(self) -> bool:
        """By its word: its port is in the network of the laboratory."""
        return "Server listening" in (self.folder / "sshd.log").read_text("utf-8")


def test_machines_of_a_study_are_measured_in_one_job_that_holds_their_nodes(
    tool: Submitting, lab: Laboratory, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tool.folder / "day.yaml").write_text(ON_MACHINES, encoding="utf-8")
    (tool.folder / "ssh").mkdir()
    servers = {name: OfNode(tool.folder / "ssh" / name, lab=lab) for name in ("n1", "n2")}
    with reached(servers, tool.folder / "ssh", monkeypatch):
        (run,) = tool.submitted("day.yaml", "--time", "1 h")
        tool.wait(lambda: any(run.path.glob("machines/n1/trials/0001-1/record.json")))
        assert tool.jobs(run, "R") == ["n[1-2]"]
        row = tool.ended(run)
    said = Path(row["queue"]["log"]).read_text("utf-8")
    assert row["status"] in {"decided", "budget_visits"}, said
    assert (row["queue"]["state"], row["queue"]["nodes"]) == ("ended", "n[1-2]")
    parts = open_run(run.path).machines()
    assert list(parts) == ["n1", "n2"]
    for part in parts.values():
        assert (sessions(part), left_to_undo(part)) == (1, set())
        keys = [(record.trial, record.attempt) for record in part.records()]
        assert len(keys) == len(set(keys)) >= 8
    assert (run.report_path / "findings.json").is_file()
