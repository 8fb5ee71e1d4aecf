"""SIGTERM and Ctrl-C in every phase of a run: it ends, nothing is left, and `resume` goes on."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable

import pytest

from steelyard.records.archive import Run, open_run
from steelyard.records.events import AttemptStarted, EnvironmentCompared, SessionClosed
from steelyard.records.schema import Outcome
from tests.integration.conftest import CALIBRATED, STUDY, Steelyard, first_in_every_run

NEVER_S = 900
ENDS_WITHIN_S = 300
"""Far more than it takes on a busy machine, far less than what is ended would take by itself."""

BOX = """\
summary: A folder, whose making takes for ever.
driver: command_line
verified: false
resets: [service]
settings: {}
commands:
  exists: {run: [cat, "{folder}/box/mark"], absent: "No such file", ours: "^{mark}$"}
  up:
    - [mkdir, "{folder}/box"]
    - [sh, -c, 'printf %s "$1" > "$2/mark"', sh, "{mark}", "{folder}/box"]
    - {run: [sh, -c, 'touch REACHED; sleep 900'], within: 1000 s}
  inside: {pipe: [nice, -n, "0"]}
  engine: "{folder}/box/engine"
  folder: "{folder}/box/services"
  carry: [[cp, "{engine_here}", "{engine}"]]
  down: [[rm, -rf, --, "{folder}/box"]]
  address: {run: [printf, 127.0.0.1]}
"""

TOOL = """\
summary: A tool that takes for ever in one of its phases.
operation: steps
primary: slow.rate
settings: {}
prepare:
  - {run: [sh, -c, 'PREPARE']}
command: [sh, -c, 'COMMAND; echo 1', sh, "{window}"]
ends: window
warmup: beforehand
metrics:
  slow.rate: {label: steps, unit: steps/s, direction: higher, meaning: steps, pattern: '^([0-9]+)$'}
"""

TOOL_STUDY = """\
study: tiny
question: Does it end?
systems: {one: {platform: native}, two: {platform: native}}
workload: {use: slow}
trials: {margin: 5 %, window: 1 s, warmup: 1 s, budget: {trials: 6 per cell}}
"""

SLOW = """\
import sys, time
import {module} as module

def for_ever(*_arguments, **_options):
    open("{reached}", "w").close()
    while True:
        time.sleep(0.05)

module.{name} = for_ever
from steelyard.cli.entry import main
main()
"""


def with_times(warmup: str, window: str, study: str = STUDY) -> str:
    times = study.replace("warmup: 20 ms", f"warmup: {warmup}")
    return times.replace("window: 200 ms", f"window: {window}")


def run_of(steelyard: Steelyard) -> Run | None:
    found = list((steelyard.folder / "results" / "tiny").glob("*/ledger.jsonl"))
    return Run(found[0].parent) if found else None


def happened(steelyard: Steelyard, event: str) -> bool:
    run = run_of(steelyard)
    return run is not None and event in [each.event for each in run.events()]


def wait_until(process: subprocess.Popen[str], reached: Callable[[], bool]) -> None:
    end = time.monotonic() + ENDS_WITHIN_S
    while time.monotonic() < end and process.poll() is None:
        if reached():
            return
        time.sleep(0.02)
    process.kill()
    pytest.fail(f"never got there: {process.communicate()}")


def end(process: subprocess.Popen[str], number: int = signal.SIGTERM) -> str:
    """What it says when it is asked to end; its exit code is the documented one."""
    process.send_signal(number)
    try:
        stdout, stderr = process.communicate(timeout=ENDS_WITHIN_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        pytest.fail("it did not end")
    assert process.returncode == 130, stderr
    assert stdout == ""
    return stderr


def check_ended(steelyard: Steelyard, said: str) -> Run:
    """It says how to go on, has undone everything, and has written down that it was interrupted."""
    run = open_run(steelyard.folder / "results" / "tiny")
    assert f"steelyard resume results/tiny/{run.path.name}" in said
    assert f"steelyard report results/tiny/{run.path.name}" in said
    assert not (run.path / "scratch").exists()
    closed = run.events()[-1]
    assert isinstance(closed, SessionClosed)
    assert closed.reason == "interrupted"
    assert steelyard.wait_until_no_process() == []
    return run


def check_interrupted_in(run: Run, *phases: str) -> None:
    (record,) = run.records()
    assert record.outcome is Outcome.INTERRUPTED
    assert record.failure is not None
    assert record.failure.phase in phases


@pytest.mark.parametrize("number", first_in_every_run([signal.SIGTERM, signal.SIGINT]))
def test_calibration_ends(steelyard: Steelyard, number: int) -> None:
    write(steelyard, "study.yaml", with_times("5 s", "60 s", CALIBRATED))
    process = steelyard.start("run", ".")
    wait_until(process, lambda: happened(steelyard, "environment_recorded"))
    run = check_ended(steelyard, end(process, number))
    assert run.records() == []
    assert "generator_calibrated" not in [each.event for each in run.events()]


@pytest.mark.parametrize(("warmup", "window"), [(f"{NEVER_S} s", "1 s"), ("0", f"{NEVER_S} s")])
@pytest.mark.extended
def test_warmup_and_window_end(steelyard: Steelyard, warmup: str, window: str) -> None:
    write(steelyard, "study.yaml", with_times(warmup, window))
    process = steelyard.start("run", ".")
    wait_until(process, lambda: happened(steelyard, "attempt_started"))
    time.sleep(0.3)  # by then it is mostly measuring; it ends in the phases before that as well
    check_interrupted_in(check_ended(steelyard, end(process)), "measure", "start_service", "settle")


def test_a_platform_that_comes_up_for_ever_ends(steelyard: Steelyard) -> None:
    reached = steelyard.folder / "reached"
    write(steelyard, "box.yaml", BOX.replace("REACHED", str(reached)))
    write(steelyard, "study.yaml", STUDY.replace("platform: native", "platform: ./box.yaml"))
    process = steelyard.start("run", ".")
    wait_until(process, reached.exists)
    check_interrupted_in(check_ended(steelyard, end(process)), "restore")


@pytest.mark.parametrize("phase", first_in_every_run(["make_ready", "measure"]))
def test_a_tool_that_takes_for_ever_ends(steelyard: Steelyard, phase: str) -> None:
    reached = steelyard.folder / "reached"
    for_ever, at_once = f"touch {reached}; sleep {NEVER_S}", "true"
    prepare, command = (for_ever, at_once) if phase == "make_ready" else (at_once, for_ever)
    (steelyard.folder / "workloads").mkdir()
    tool = TOOL.replace("PREPARE", prepare).replace("COMMAND", command)
    write(steelyard, "workloads/slow.yaml", tool)
    write(steelyard, "study.yaml", TOOL_STUDY)
    process = steelyard.start("run", ".")
    wait_until(process, reached.exists)
    check_interrupted_in(check_ended(steelyard, end(process)), phase)


def write(steelyard: Steelyard, name: str, text: str) -> None:
    (steelyard.folder / name).write_text(text, encoding="utf-8")


def start_with(steelyard: Steelyard, module: str, name: str) -> subprocess.Popen[str]:
    """`steelyard run .`, of which one function never returns; a file says that it was called."""
    reached = steelyard.folder / "reached"
    write(steelyard, "slow.py", SLOW.format(module=module, name=name, reached=reached))
    process = subprocess.Popen(
        [sys.executable, "slow.py", "run", "."],
        cwd=steelyard.folder,
        env=steelyard.environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    wait_until(process, reached.exists)
    return process


def test_judging_between_two_visits_ends_and_keeps_what_was_measured(steelyard: Steelyard) -> None:
    process = start_with(steelyard, "steelyard.trial.session_state.interim_looks", "look")
    run = check_ended(steelyard, end(process))
    started = [event for event in run.events() if isinstance(event, AttemptStarted)]
    assert started
    assert [record.outcome for record in run.records()] == [Outcome.OK] * len(started)


def test_a_report_that_is_interrupted_says_that_the_run_itself_had_ended(
    steelyard: Steelyard,
) -> None:
    process = start_with(steelyard, "steelyard.cli.session.measure", "write")
    said = end(process)
    assert "the run itself had ended" in said
    assert "steelyard report results/tiny/" in said
    closed = open_run(steelyard.folder / "results" / "tiny").events()[-1]
    assert isinstance(closed, SessionClosed)
    assert closed.reason != "interrupted"


def test_before_anything_is_measured_it_ends_without_a_trace(steelyard: Steelyard) -> None:
    process = start_with(steelyard, "steelyard.cli.session.measure", "plan_study")
    end(process)
    assert not (steelyard.folder / "results").exists()


def test_a_second_signal_tears_nothing_and_leaves_out_the_look_at_what_is_left(
    steelyard: Steelyard,
) -> None:
    write(steelyard, "study.yaml", with_times("0", f"{NEVER_S} s"))
    process = steelyard.start("run", ".")
    wait_until(process, lambda: happened(steelyard, "attempt_started"))
    time.sleep(0.3)
    process.send_signal(signal.SIGTERM)
    assert process.stderr is not None
    while "again forces the stop" not in process.stderr.readline():
        assert process.poll() is None
    said = end(process)
    assert "forced stop" in said
    run = check_ended(steelyard, said)
    compared = next(each for each in run.events() if isinstance(each, EnvironmentCompared))
    assert compared.forced_stop == ("local",)
