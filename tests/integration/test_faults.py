"""What goes wrong is typed, kept, and says what to do; the rest goes on where it can."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from steelyard.hosts.undo.log import pending_undos
from steelyard.records.archive import open_run
from steelyard.records.events import GeneratorCalibrated
from steelyard.records.schema import Outcome
from tests.integration.conftest import CALIBRATED, LONGEST_S, STUDY, Steelyard
from tests.platforms.loops import RELEASE


def write_study(steelyard: Steelyard, text: str) -> None:
    (steelyard.folder / "study.yaml").write_text(text, encoding="utf-8")


def test_every_mistake_of_a_study_is_listed_with_its_place_and_nothing_starts(
    steelyard: Steelyard,
) -> None:
    wrong = STUDY.replace("platform: native", "platfrom: native", 1).replace("2 %", "2 parsecs")
    write_study(steelyard, wrong)
    done = steelyard.run("run", ".")
    assert done.returncode == 2
    assert "study.yaml:4:" in done.stderr
    assert "platform" in done.stderr
    line = wrong[: wrong.index("2 parsecs")].count("\n") + 1
    assert f"study.yaml:{line}:" in done.stderr
    assert done.stdout == ""
    assert not (steelyard.folder / "results").exists()


def test_a_taken_port_is_reported_with_its_place_before_the_first_trial(
    steelyard: Steelyard,
) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        first, rest = STUDY.split("two:", 1)
        write_study(
            steelyard, first + "two:" + rest.replace("sync: none", f"sync: none, port: {port}", 1)
        )
        done = steelyard.run("run", ".")
    records = open_run(steelyard.folder / "results" / "tiny").records()
    if done.returncode == 1:  # of a machine whose sockets come and go the kernel's list has gaps
        failed = [record for record in records if record.cell.system == "two"]
        assert {record.outcome for record in failed} == {Outcome.ADDRESS_IN_USE}
        return
    assert done.returncode == 3, done.stderr
    assert re.search(rf"study\.yaml:\d+:\d+: .*\b{port}\b", done.stderr)
    assert records == []


LONG_WINDOWS = STUDY.replace("window: 200 ms", "window: 500 ms")  # so that a kill falls inside


def test_a_sink_that_dies_is_a_failed_attempt_and_is_tried_again(steelyard: Steelyard) -> None:
    write_study(steelyard, LONG_WINDOWS)
    process = steelyard.start("run", ".")
    victim = wait_for_sink(steelyard)
    os.kill(victim, 9)
    _, stderr = process.communicate(timeout=LONGEST_S)
    assert process.returncode == 0, stderr
    records = open_run(steelyard.folder / "results" / "tiny").records()
    died = [record for record in records if record.outcome is Outcome.SERVICE_DIED]
    assert len(died) == 1
    assert died[0].failure is not None
    assert "signal 9" in died[0].failure.message
    again = [r for r in records if r.trial == died[0].trial and r.attempt == died[0].attempt + 1]
    assert again[0].outcome is Outcome.OK


@pytest.mark.extended
def test_an_agent_that_dies_is_a_failed_attempt_and_the_next_opens_a_new_one(
    steelyard: Steelyard,
) -> None:
    write_study(steelyard, LONG_WINDOWS)
    process = steelyard.start("run", ".")
    wait_for_sink(steelyard)
    os.kill(wait_for(steelyard, b"agent"), 9)
    _, stderr = process.communicate(timeout=LONGEST_S)
    assert process.returncode == 0, stderr
    records = open_run(steelyard.folder / "results" / "tiny").records()
    assert Outcome.AGENT_LOST in {record.outcome for record in records}


def test_an_agent_that_dies_in_the_calibration_leaves_nothing_to_undo(
    steelyard: Steelyard,
) -> None:
    write_study(steelyard, CALIBRATED)
    process = steelyard.start("run", ".")
    wait_for(steelyard, b"sink", trials=0)
    os.kill(wait_for(steelyard, b"agent", trials=0), 9)
    _, stderr = process.communicate(timeout=LONGEST_S)
    assert process.returncode == 0, stderr
    events = open_run(steelyard.folder / "results" / "tiny").events()
    calibrated = next(event for event in events if isinstance(event, GeneratorCalibrated))
    missing = [each.not_calibrated for each in calibrated.cells]
    assert "calibration_failed" in {each.kind for each in missing if each is not None}
    assert pending_undos(events) == []


def wait_for_sink(steelyard: Steelyard) -> int:
    return wait_for(steelyard, b"sink")


STARTS_WITHIN_S = 60
"""A process that was just started bears no mark of its own yet."""


def wait_for(steelyard: Steelyard, mode: bytes, *, trials: int = 1) -> int:
    """The engine process in this mode, after a first trial has been recorded, or none."""
    runs = steelyard.folder / "results" / "tiny"
    begun, end = False, time.monotonic() + STARTS_WITHIN_S
    while (running := steelyard.processes()) or (not begun and time.monotonic() < end):
        begun = begun or bool(running)
        if len(list(runs.glob("*/trials/0001-1"))) == trials:
            for pid in running:
                if mode in command_of(pid).split(b"\0")[:2]:
                    return pid
        time.sleep(0.005)
    pytest.fail(f"no engine came up as {mode.decode()}")


def command_of(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def test_a_missing_engine_says_how_to_get_it(
    steelyard: Steelyard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STEELYARD_ENGINE", "/nowhere/engine")
    done = steelyard.run("run", ".")
    assert done.returncode == 3
    assert "$STEELYARD_ENGINE names /nowhere/engine" in done.stderr
    assert "make setup" in done.stderr
    assert not (steelyard.folder / "results").exists()


def test_an_engine_of_another_version_is_refused(
    steelyard: Steelyard, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = steelyard.folder.parent / "other-engine"
    other.write_text("#!/bin/sh\necho steelyard-engine 99.0.0\n", encoding="utf-8")
    other.chmod(0o755)
    monkeypatch.setenv("STEELYARD_ENGINE", str(other))
    done = steelyard.run("run", ".")
    assert done.returncode == 3
    assert "is version 99.0.0" in done.stderr


def test_a_results_folder_that_cannot_be_written_is_the_operators(steelyard: Steelyard) -> None:
    (steelyard.folder / "file").write_text("in the way", encoding="utf-8")
    done = steelyard.run("run", ".", "--results", "file/results")
    assert done.returncode == 3
    assert "--results" in done.stderr


def test_a_study_that_was_changed_inside_a_run_cannot_be_resumed(after_a_run: Steelyard) -> None:
    run = open_run(after_a_run.folder / "results" / "tiny")
    run.study_path.write_text(STUDY.replace("2 %", "3 %"), encoding="utf-8")
    done = after_a_run.run("resume", str(run.path))
    assert done.returncode == 3
    assert "start a new run" in done.stderr


def run_on_a_small_disk(steelyard: Steelyard, size: str) -> subprocess.CompletedProcess[str]:
    """`steelyard run .` with results/ on a memory disk of this size, in a mount namespace."""
    (steelyard.folder / "results").mkdir()
    mount = f"{RELEASE}mount -t tmpfs -o size={size} none results"
    script = f"{mount} && exec {sys.executable} -m steelyard run . --json"
    command = ["unshare", "--mount", "--map-root-user", "sh", "-c", script]
    if subprocess.run([*command[:3], "true"], capture_output=True, check=False).returncode:
        pytest.skip("this machine does not allow a mount namespace of one's own")
    return subprocess.run(
        command,
        cwd=steelyard.folder,
        env=steelyard.environment,
        capture_output=True,
        text=True,
        timeout=LONGEST_S,
        check=False,
    )


def test_too_little_space_for_trials_ends_the_session_before_the_first(
    steelyard: Steelyard,
) -> None:
    done = run_on_a_small_disk(steelyard, "32m")
    assert done.returncode == 3, done.stderr
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert not [event for event in events if event["event"] == "attempt_measured"]
    assert events[-1] == events[-1] | {"event": "session_closed", "reason": None}
    assert "64 MiB are needed" in done.stderr


def test_a_disk_that_cannot_hold_the_records_ends_the_run_with_what_to_do(
    steelyard: Steelyard,
) -> None:
    done = run_on_a_small_disk(steelyard, "100k")
    assert done.returncode == 3, done.stderr
    assert "No space left on device" in done.stderr
    assert "steelyard resume" in done.stderr or "--results" in done.stderr
