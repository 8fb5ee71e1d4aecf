"""A run of which nothing can come ends early, and says why."""

from __future__ import annotations

import pytest

from steelyard.records.archive import open_run
from steelyard.records.events import SystemStopped
from steelyard.records.schema import Outcome
from tests.integration.conftest import Steelyard

TOOL = """\
summary: A tool that does not print what it is read for.
operation: steps
primary: mute.rate
settings: {}
command: [echo, "nothing to see here"]
ends: by itself
warmup: never
metrics:
  mute.rate: {label: steps, unit: steps/s, direction: higher, meaning: steps, pattern: '^([0-9]+)$'}
"""

STUDY = """\
study: tiny
question: Which of the two says more?
systems: {one: {platform: native}, two: {platform: native}}
workload: {use: mute}
trials: {margin: 5 %, window: 1 s, warmup: 0, retry: 0, budget: {trials: 40 per cell}}
"""


def test_a_primary_response_that_is_never_printed_ends_the_run(steelyard: Steelyard) -> None:
    (steelyard.folder / "workloads").mkdir()
    (steelyard.folder / "workloads" / "mute.yaml").write_text(TOOL, encoding="utf-8")
    (steelyard.folder / "study.yaml").write_text(STUDY, encoding="utf-8")
    done = steelyard.run("run", ".")
    assert done.returncode == 1, done.stderr
    run = open_run(steelyard.folder / "results" / "tiny")
    visits = len(run.records())
    assert visits <= 6
    assert run.events()[-1].reason == "failures"
    assert "for futility: " in done.stderr
    assert "output not understood: " in done.stderr or "was missing in 6 of 6" in (done.stderr)
    assert "stopped because nothing was left to compare" in done.stdout
    again = steelyard.run("resume", "results/tiny")
    assert again.returncode == 1
    assert len(open_run(run.path).records()) == visits


SERVICE = """\
summary: A server that never gets ready.
speaks: [http]
settings: {port: {kind: port, meaning: "port"}}
command: [sleep, "600"]
listeners: {http: port}
ready: listening
"""

WAITING = """\
study: tiny
question: Which of the two is ready first?
systems:
  one: {platform: native, service: {use: never, ready_timeout: 100 ms}}
  two: {platform: native, service: {use: never, ready_timeout: 100 ms}}
workload: {use: http}
load: {users: 1}
trials: {margin: 5 %, window: 100 ms, retry: 9, budget: {trials: 40 per cell}}
"""


@pytest.mark.extended
def test_a_service_that_never_gets_ready_is_waited_for_three_times(steelyard: Steelyard) -> None:
    (steelyard.folder / "services").mkdir()
    (steelyard.folder / "services" / "never.yaml").write_text(SERVICE, encoding="utf-8")
    (steelyard.folder / "study.yaml").write_text(WAITING, encoding="utf-8")
    done = steelyard.run("run", ".")
    assert done.returncode == 1, done.stderr
    run = open_run(steelyard.folder / "results" / "tiny")
    assert [each.outcome for each in run.records()] == [Outcome.SERVICE_NOT_READY] * 3
    (stopped,) = [event for event in run.events() if isinstance(event, SystemStopped)]
    assert stopped.reason.identical_attempts == 3
    assert stopped.reason.commonest.outcome is Outcome.SERVICE_NOT_READY
    assert run.events()[-1].reason == "failures"


REPAIRED = """\
summary: A server that is ready when a file is there.
speaks: [http]
settings: {port: {kind: port, meaning: "port"}}
command: [python3, -m, http.server, "{port}", --bind, "{address}"]
listeners: {http: port}
ready: command
ready_command: [python3, -c, "import os, sys, time; \
  time.sleep(0.3 if os.path.exists(sys.argv[1]) else 60)", "FILE"]
"""

REPAIRED_STUDY = """\
study: tiny
question: Which of the two is ready first?
systems:
  one: {platform: native, service: {use: repaired, ready_timeout: 3 s}}
  two: {platform: native, service: {use: repaired, ready_timeout: 3 s}}
workload: {use: http}
load: {users: 1}
trials: {margin: 5 %, window: 100 ms, retry: 9, budget: {trials: 4 per cell}}
"""


@pytest.mark.extended
def test_a_stopped_system_is_measured_again_when_the_user_asks(steelyard: Steelyard) -> None:
    (steelyard.folder / "services").mkdir()
    (steelyard.folder / "services" / "repaired.yaml").write_text(
        REPAIRED.replace("FILE", str(steelyard.folder / "repaired")), encoding="utf-8"
    )
    (steelyard.folder / "study.yaml").write_text(REPAIRED_STUDY, encoding="utf-8")
    done = steelyard.run("run", ".")
    assert done.returncode == 1, done.stderr
    run = open_run(steelyard.folder / "results" / "tiny")
    assert {each.outcome for each in run.records()} == {Outcome.SERVICE_NOT_READY}
    assert "--retry-stopped" in done.stderr
    (steelyard.folder / "repaired").touch()
    assert steelyard.run("resume", "results/tiny").returncode == 1
    again = steelyard.run("resume", "results/tiny", "--retry-stopped")
    assert again.returncode == 0, again.stderr
    good = [each for each in open_run(run.path).records() if each.outcome is Outcome.OK]
    assert len(good) >= 8
    refused = steelyard.run("resume", "results/tiny", "--retry-stopped")
    assert refused.returncode == 3, refused.stderr
