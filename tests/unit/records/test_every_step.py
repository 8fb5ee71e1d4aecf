"""A fault at every step that makes records durable: nothing is lost, and the next session goes on.

The steps are the calls of the system that write, sync and name: each in turn fails, or is the last
that the process makes.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from tests.unit.trial.test_state import plan, record

from steelyard.records.archive import Run, RunFacts, open_run
from steelyard.records.creation import create_run
from steelyard.records.events import AttemptFinished, AttemptStarted, SessionOpened
from steelyard.records.files.durable import file_appears
from steelyard.records.ledger import Ledger
from steelyard.records.schema import Outcome

FACTS = RunFacts(
    tool_version="0.1.0",
    study="tiny",
    study_file="study.yaml",
    study_sha256="0",
    variant=None,
    seed=1,
    created_unix_ns=1_800_000_000_000_000_000,
)
STEPS = ("write", "fsync", "rename", "mkdir", "ftruncate")
TRIALS = (1, 2)
MOST_STEPS = 80


def session(results: Path) -> None:
    """As a session does it: goes on with the run that is there, trial by trial."""
    runs = list((results / "tiny").glob("[!.]*")) if (results / "tiny").is_dir() else []
    run = Run(runs[0]) if runs else create_run(results, FACTS, b"", plan("ab"))
    with Ledger(run.ledger_path) as ledger:
        ledger.append(SessionOpened())
        file_appears(run.path / "1-before.json", b"{}")
        started = [e for e in ledger.events() if isinstance(e, AttemptStarted)]
        there = {r.trial for r in run.records()}
        for event in started:
            if event.trial not in there:
                run.write_attempt(
                    record(event.trial, Outcome.CONTROLLER_LOST, event.attempt),
                    documents={},
                    samples={},
                )
                there.add(event.trial)
        for trial in TRIALS:
            if trial not in there:
                ledger.append(AttemptStarted(trial=trial, attempt=1))
                run.write_attempt(
                    record(trial, Outcome.OK), documents={"load.json": b"{}"}, samples={}
                )
                ledger.append(AttemptFinished(trial=trial, attempt=1, outcome=Outcome.OK))


def at_step(number: int, fault: Callable[[], None], monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Does ``fault`` in the place of one call; the count of calls is what is returned."""
    calls = [0]

    def faulty(real: Callable[..., object]) -> Callable[..., object]:
        def call(*arguments: object, **options: object) -> object:
            calls[0] += 1
            if calls[0] == number:
                fault()
            return real(*arguments, **options)

        return call

    for name in STEPS:
        monkeypatch.setattr(os, name, faulty(getattr(os, name)))
    return calls


def check(results: Path) -> None:
    """A further session ends well, and every trial has exactly one record."""
    session(results)
    run = open_run(results / "tiny")
    assert [each.trial for each in run.records()] == list(TRIALS)
    left = [path for path in results.rglob(".new-*") if path.parent.name != "tiny"]
    assert left == []


def full() -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def broken() -> None:
    raise OSError(errno.EIO, "Input/output error")


@pytest.mark.parametrize("fault", [full, broken])
def test_a_failure_at_any_step_loses_nothing_and_the_next_session_goes_on(
    tmp_path: Path, fault: Callable[[], None]
) -> None:
    for number in range(1, MOST_STEPS):
        results = tmp_path / str(number)
        with pytest.MonkeyPatch.context() as monkeypatch:
            calls = at_step(number, fault, monkeypatch)
            with suppress(OSError):
                session(results)
        check(results)
        if calls[0] < number:
            assert number > 20
            return
    pytest.fail("the session has more steps than were tried")


def test_a_kill_at_any_step_loses_nothing_and_the_next_session_goes_on(tmp_path: Path) -> None:
    for number in range(1, MOST_STEPS):
        results = tmp_path / str(number)
        child = os.fork()
        if child == 0:
            with pytest.MonkeyPatch.context() as monkeypatch:
                at_step(number, lambda: os._exit(1), monkeypatch)
                session(results)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        check(results)
        if status == 0:
            assert number > 20
            return
    pytest.fail("the session has more steps than were tried")
