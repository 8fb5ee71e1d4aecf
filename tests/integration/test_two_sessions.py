"""Two studies on one machine: the second is refused or waits, and neither disturbs the other."""

from __future__ import annotations

import signal
import time
from pathlib import Path
from subprocess import Popen

from steelyard.records.archive import open_run
from steelyard.records.events import AttemptFinished, AttemptStarted, Event
from tests.integration.conftest import STUDY, Steelyard

LONG = STUDY.replace("study: tiny", "study: first").replace("window: 200 ms", "window: 10 s")
"""Its end is never waited for."""


def events_of(steelyard: Steelyard, study: str) -> list[Event]:
    return open_run(steelyard.folder / "results" / study).events()


def first_is_measuring(steelyard: Steelyard) -> tuple[Popen[str], Path]:
    """The command of the first, in its first trial, and the study of the second."""
    first, second = steelyard.folder / "first.yaml", steelyard.folder / "second.yaml"
    first.write_text(LONG, encoding="utf-8")
    second.write_text(STUDY.replace("study: tiny", "study: second"), encoding="utf-8")
    measuring = steelyard.start("run", str(first))
    study = steelyard.folder / "results" / "first"
    while not any("attempt_started" in path.read_text() for path in study.glob("*/ledger.jsonl")):
        assert measuring.poll() is None
        time.sleep(0.05)
    return measuring, second


def test_the_second_is_refused_in_words_and_with_wait_measures_after_the_first(
    steelyard: Steelyard,
) -> None:
    measuring, second = first_is_measuring(steelyard)
    refused = steelyard.run("run", str(second))
    assert refused.returncode == 3
    assert "machine-is-in-use" in refused.stderr
    assert "results/first/" in refused.stderr
    assert not (steelyard.folder / "results" / "second").exists()
    timed = steelyard.run("plan", str(second), "--timed")
    assert "machine-is-in-use" in timed.stderr
    assert not (steelyard.folder / "results" / "second").exists()
    waiting = steelyard.start("run", str(second), "--wait")
    assert waiting.stderr is not None
    while "waiting: local is being measured by the run" not in waiting.stderr.readline():
        assert waiting.poll() is None
    assert measuring.poll() is None
    measuring.send_signal(signal.SIGTERM)
    measuring.communicate()
    waiting.communicate()
    assert measuring.returncode == 130
    ends = [e.at_unix_ns for e in events_of(steelyard, "first") if isinstance(e, AttemptFinished)]
    starts = [e.at_unix_ns for e in events_of(steelyard, "second") if isinstance(e, AttemptStarted)]
    assert max(ends) < min(starts)


def test_a_machine_that_a_killed_run_left_changed_is_refused_until_that_is_restored(
    steelyard: Steelyard,
) -> None:
    measuring, second = first_is_measuring(steelyard)
    measuring.kill()
    measuring.communicate()
    refused = steelyard.run("run", str(second))
    assert refused.returncode == 3
    assert "machine-was-left-changed" in refused.stderr
    assert not (steelyard.folder / "results" / "second").exists()
    (run,) = (steelyard.folder / "results" / "first").iterdir()
    assert f"steelyard restore {run}" in refused.stderr
    assert steelyard.run("restore", str(run)).returncode == 0
    assert "machine-was-left-changed" not in steelyard.run("run", str(second)).stderr
    assert any(isinstance(e, AttemptStarted) for e in events_of(steelyard, "second"))
