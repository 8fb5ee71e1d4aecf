"""A latency probe beside a load, and loads that end by themselves, with the real engine."""

from __future__ import annotations

import json

import pytest

from steelyard.judge.findings import RunFindings
from steelyard.records.archive import open_run
from steelyard.records.missing import TooFewTimes
from steelyard.records.schema import Outcome
from tests.integration.conftest import Steelyard

MAIL = """
study: looked-at
question: Does somebody look on?
systems:
  one: {platform: native, service: {use: sink-smtp}}
  two: {platform: native, service: {use: sink-smtp}}
workload: {use: smtp, messages: 10 per user}
latency_probe: {use: smtp-probe, every: 10 ms}
load: {users: [3], think: 20 ms}
responses: {throughput: {primary: true}, run_time: {}, probe.p50: {}, probe.p99: {}}
generator: {calibrate: false}
trials: {margin: 50 %, warmup: 100 ms, budget: {trials: 6 per cell}}
"""
WEB = """
study: asked
question: How long do requests take?
systems:
  one: {platform: native, service: {use: sink-http}}
  two: {platform: native, service: {use: sink-http, delay: 5 ms}}
workload: {use: http, keep_alive: false, requests: 200}
load: {users: [10]}
responses: {throughput: {primary: true}, tcp.syn_retransmits: {}}
generator: {calibrate: false}
sample: {every: 100 ms}
trials: {margin: 50 %, warmup: 0 s, budget: {trials: 6 per cell}}
"""


def test_each_user_sends_its_messages_while_a_probe_looks_on(steelyard: Steelyard) -> None:
    steelyard.folder.joinpath("mail.yaml").write_text(MAIL, encoding="utf-8")
    done = steelyard.run("run", "mail.yaml")
    assert done.returncode in (0, 1), done.stderr
    run = open_run(steelyard.folder / "results" / "looked-at")
    good = [record for record in run.records() if record.outcome is Outcome.OK]
    assert len(good) >= 8
    for record in good:
        folder = run.path / "trials" / f"{record.trial:04d}-{record.attempt}"
        load = json.loads((folder / "load.json").read_text(encoding="utf-8"))
        probe = json.loads((folder / "probe.json").read_text(encoding="utf-8"))
        assert load["counts"]["ok"] == 30
        assert record.value("run_time") == load["load"]["window_ns"] / 1e9
        assert probe["counts"]["ok"] > 0
        assert probe["counts"]["errors"] == 0
        assert record.value("probe.p50") == probe["latency_ns"]["response"]["p50"]
        assert record.responses["probe.p99"].missing == TooFewTimes(figure="p99", needed=1000)


@pytest.mark.extended
def test_the_report_has_every_request_of_a_web_study(steelyard: Steelyard) -> None:
    steelyard.folder.joinpath("web.yaml").write_text(WEB, encoding="utf-8")
    done = steelyard.run("run", "web.yaml")
    assert done.returncode in (0, 1), done.stderr
    run = open_run(steelyard.folder / "results" / "asked")
    document = (run.report_path / "findings.json").read_text(encoding="utf-8")
    found = RunFindings.model_validate(json.loads(document))
    counted = {
        name: sum(r.outcome is Outcome.OK and r.cell.system == name for r in run.records())
        for name in ("one", "two")
    }
    for times in found.workloads[0].request_times:
        assert times.requests == 200 * counted[times.cell.system]
        assert times.failed == 0
        parts = {row.name: row for row in times.rows}
        assert set(parts) == {"connect", "processing", "waiting", "total"}
        apart_ns = parts["total"].mean_ns - parts["connect"].mean_ns - parts["processing"].mean_ns
        assert abs(apart_ns) < 1.0
        assert times.served[-1].within_ns == parts["total"].max_ns
    by_system = {times.cell.system: times for times in found.workloads[0].request_times}
    assert by_system["two"].rows[-1].min_ns >= 5_000_000
