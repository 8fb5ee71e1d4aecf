"""Events within windows, with the real engine."""

from __future__ import annotations

import json

import pytest

from steelyard.judge.findings import RunFindings
from steelyard.records.archive import Run, open_run
from steelyard.records.schema import Outcome
from tests.integration.conftest import Steelyard

STUDY = """
study: stopped
question: How long is the service away?
systems:
  one: {{platform: native, service: {{use: sink-http}}}}
  two: {{platform: native, service: {{use: sink-http}}}}
workload: {{use: http}}
load: {{rate: 200, arrival: constant}}
events:
  stop:
    command: {command}
    undo: [touch, "{{study}}/undone"]
    at: 500 ms
    within: {within}
    late: 200 ms
responses:
  event.stop.duration: {{primary: true}}
  event.stop.recovery: {{}}
  event.stop.took: {{}}
generator: {{calibrate: false}}
trials: {{margin: 50 %, window: 3 s, warmup: 200 ms, retry: 0, budget: {{trials: 6 per cell}}}}
"""
STOP = '[sh, -c, "kill -STOP {pid}; sleep 0.6; kill -CONT {pid}"]'


def run_of(steelyard: Steelyard, command: str, within: str = "2 s") -> Run:
    study = STUDY.format(command=command, within=within)
    steelyard.folder.joinpath("study.yaml").write_text(study, encoding="utf-8")
    done = steelyard.run("run", "study.yaml")
    assert done.returncode in (0, 1), done.stderr
    return open_run(steelyard.folder / "results" / "stopped")


def test_a_stop_of_the_service_is_a_dip_at_least_as_long(steelyard: Steelyard) -> None:
    run = run_of(steelyard, STOP)
    good = [record for record in run.records() if record.outcome is Outcome.OK]
    assert good
    for record in good:
        [event] = record.events
        began_s = (event.began_ns - (record.instances[0].started_ns or 0)) / 1e9
        assert began_s >= 0.5
        assert (record.value("event.stop.took") or 0) >= 0.6e9
        duration = record.responses["event.stop.duration"]
        if duration.value is None:  # a busy machine may be late all the time
            assert duration.missing is not None
            assert duration.missing.kind in {"not_recovered", "late_before"}
        else:
            assert duration.value >= 0.55e9
    assert (steelyard.folder / "undone").exists()
    document = (run.report_path / "findings.json").read_text(encoding="utf-8")
    found = RunFindings.model_validate(json.loads(document)).workloads[0]
    assert {each.event for each in found.happened} == {"stop"}
    assert "answers" in {each.resource for each in found.resources}


@pytest.mark.extended
@pytest.mark.parametrize(
    ("command", "within"),
    [("[sh, -c, 'exit 3']", "1 s"), ("[sleep, 5]", "500 ms"), ("[nowhere]", "1 s")],
)
def test_an_event_that_does_not_happen_as_declared_fails_the_trial(
    steelyard: Steelyard, command: str, within: str
) -> None:
    run = run_of(steelyard, command, within)
    outcomes = {record.outcome for record in run.records()}
    assert Outcome.OK not in outcomes
    assert Outcome.EVENT_FAILED in outcomes
