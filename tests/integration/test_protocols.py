"""A study of every kind of service runs from its file to its report, calibrated."""

from __future__ import annotations

import pytest

from steelyard.records.archive import open_run
from steelyard.records.events import GeneratorCalibrated
from steelyard.records.missing import Reason, TooFewTimes
from steelyard.records.schema import Outcome
from tests.integration.conftest import (
    Finished,
    Steelyard,
    assert_each_ended_well,
    first_in_every_run,
)

STUDY = """\
study: protocols
question: Does the second of two equal sinks serve faster than the first?
systems:
  one: {{platform: native, service: {service}}}
  two: {{platform: native, service: {service}}}
workload: {workload}
load: {{users: [2]}}
generator: {{calibrate: true}}
responses: {{{responses}}}
trials: {{margin: 2 %, window: 200 ms, warmup: 20 ms, budget: {{trials: 6 per cell}}}}
sample: {{every: 100 ms}}
"""

CASES = {
    "imap": (
        "{use: sink-imap, tls: starttls}",
        "{use: imap, tls: starttls, commands: [fetch=3, noop], verify: true}",
        "throughput: {primary: true}, kind.fetch.p50: {}, payload.corrupted: {}",
    ),
    "ftp": (
        "{use: sink-ftp}",
        "{use: ftp, file: 10 kB, actions: [download, upload]}",
        "throughput: {primary: true}, kind.download.p50: {}, errors: {}",
    ),
    "lmtp": (
        "{use: sink-lmtp}",
        "{use: lmtp, body: 1 KiB, pipelining: envelope}",
        "throughput: {primary: true}, response.p50: {}",
    ),
    "tcp-stream": (
        "{use: sink-stream}",
        "{use: tcp-stream, direction: in}",
        "throughput: {primary: true}",
    ),
    "udp-stream": (
        "{use: sink-stream}",
        "{use: udp-stream, direction: out, pace: 10 Mbit/s}",
        "throughput: {primary: true}",
    ),
    "tcp-connect": (
        "{use: sink-echo}",
        "{use: tcp-connect}",
        "throughput: {primary: true}, response.p50: {}",
    ),
    "request-response": (
        "{use: sink-stream}",
        "{use: request-response, protocol: udp}",
        "throughput: {primary: true}, response.p50: {}",
    ),
    "delivery": (
        "{use: sink-mail}",
        "{use: delivery, body: 1 KiB}",
        "response.p50: {primary: true}, phase.delivered.p50: {}",
    ),
}


def _too_few(missing: object) -> bool:
    """On a busy machine a window may hold fewer operations of one kind than it needs."""
    return isinstance(missing, TooFewTimes)


@pytest.mark.parametrize("protocol", first_in_every_run(CASES))
def test_a_study_of_this_protocol_is_measured_calibrated_and_reported(
    protocol: str, steelyard: Steelyard
) -> None:
    service, workload, responses = CASES[protocol]
    text = STUDY.format(service=service, workload=workload, responses=responses)
    (steelyard.folder / "study.yaml").write_text(text, encoding="utf-8")
    done = steelyard.run("run", "study.yaml", "--format", "md")
    assert done.returncode == 0, done.stderr
    run = open_run(steelyard.folder / "results" / "protocols")
    assert_each_ended_well(run.records())
    for record in run.records():
        if record.outcome is not Outcome.OK:
            continue
        for name, measured in record.responses.items():
            assert measured.value is not None or _too_few(measured.missing), name
        assert record.calibration is not None
        assert record.calibration.not_calibrated is None
        assert record.calibration.capacity_per_s
        assert record.calibration.ratio
    told, *_ = [event for event in run.events() if isinstance(event, GeneratorCalibrated)]
    assert [each.cell.conditions for each in told.cells] == [{"load.users": 2}] * len(told.cells)
    report = (run.report_path / "report.md").read_text(encoding="utf-8")
    assert "Generator capacity" in report


def test_calibration_can_be_switched_off(finished: Finished) -> None:
    for record in open_run(finished.folder / "results" / "tiny").records():
        assert record.calibration is not None
        assert record.calibration.not_calibrated == Reason(kind="calibration_off")
        assert record.calibration.ratio is None
