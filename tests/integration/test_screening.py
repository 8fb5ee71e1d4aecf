"""A screening from its study file to its report, with the real engine."""

from __future__ import annotations

import json

from steelyard.judge.findings import Findings
from steelyard.records.archive import open_run
from tests.integration.conftest import Steelyard

STUDY = """
study: delayed
question: Does a server that waits answer less?
systems:
  server: {platform: native, service: {use: sink-http}}
workload: {use: http}
screen:
  system: server
  factors:
    service.delay: [0 s, 20 ms]
    load.users: [1, 4]
  hard_to_change: [service.delay]
responses: {throughput: {primary: true}}
generator: {calibrate: false}
trials: {margin: 50 %, window: 200 ms, warmup: 0 s, drain: 100 ms, budget: {trials: 7 per cell}}
"""


def test_a_delay_is_what_matters_and_a_screening_that_has_stopped_is_not_measured_again(
    steelyard: Steelyard,
) -> None:
    steelyard.folder.joinpath("screen.yaml").write_text(STUDY, encoding="utf-8")
    done = steelyard.run("run", "screen.yaml", "--seed", "3")
    assert done.returncode == 0, done.stderr
    run = open_run(steelyard.folder / "results" / "delayed")
    document = (run.report_path / "findings.json").read_text(encoding="utf-8")
    (found,) = Findings.model_validate(json.loads(document)).influence
    delay = next(each for each in found.effects if each.factors == ("service.delay",))
    assert delay.unit == "visit"
    assert delay.word == "influential"
    assert delay.high_log is not None
    assert delay.high_log < -1
    assert "service.delay" in done.stdout
    for record in run.records():
        assert record.facts["system"]["service.use"] == "sink-http"

    before = len(run.records())
    again = steelyard.run("resume", "results/delayed")
    assert again.returncode == 0, again.stderr
    assert len(run.records()) == before
