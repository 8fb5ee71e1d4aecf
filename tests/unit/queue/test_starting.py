"""What a job finds on its node first: each refusal leaves the submission to be started."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.unit.queue.conftest import Queue
from tests.unit.queue.test_submission import runs, submit
from typer.testing import CliRunner, Result

from steelyard.cli.main import app
from steelyard.cli.queue import starting
from steelyard.errors import HostError
from steelyard.records.submission import started_by


class Away(Queue):
    def clock_unix_s(self) -> float | None:
        raise HostError("away", hint="wait", slug="queue-is-away")


class Early(Queue):
    def clock_unix_s(self) -> float | None:
        return time.time() + 300


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch, queue: Queue) -> Callable[[Queue], Result]:
    """The job of a run, as it is started on a node."""
    del queue
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    monkeypatch.setenv("SLURMD_NODENAME", "n3")
    submit()

    def start(asked: Queue) -> Result:
        monkeypatch.setattr(starting, "Slurm", lambda: asked)
        monkeypatch.setattr("steelyard.cli.session.measure.resumed", lambda *_, **__: 0)
        return CliRunner().invoke(app, ["resume", str(runs()[0].path), "--queued", "1"])

    return start


def test_a_queue_that_has_gone_away_keeps_no_job_from_its_work(
    started: Callable[[Queue], Result],
) -> None:
    assert started(Away()).exit_code == 0
    first = started_by(runs()[0], 1)
    assert first is not None
    assert (first.job, first.node) == (7, "n3")
    again = started(Away())
    assert (again.exit_code, "#run-was-started" in again.stderr) == (3, True)


def test_a_clock_that_is_minutes_off_starts_nothing(started: Callable[[Queue], Result]) -> None:
    refused = started(Early())
    assert (refused.exit_code, "#clocks-differ" in refused.stderr) == (3, True)
    assert started_by(runs()[0], 1) is None


def test_an_engine_of_another_version_starts_nothing(
    started: Callable[[Queue], Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = tmp_path / "engine"
    engine.write_text("#!/bin/sh\necho steelyard-engine 9.9.9\n", encoding="utf-8")
    engine.chmod(0o755)
    monkeypatch.setenv("STEELYARD_ENGINE", str(engine))
    refused = started(Queue())
    assert (refused.exit_code, "#engine-of-another-version" in refused.stderr) == (3, True)
    assert started_by(runs()[0], 1) is None
