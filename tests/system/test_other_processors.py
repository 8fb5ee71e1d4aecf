"""Engines for other processors are run on them, emulated: truth tests, and a study."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from bench.truth import criteria, judge
from bench.truth.judge import Report
from bench.truth.tools import Steelyard as Tool
from tests.platforms.test_carried_by_ssh import measured
from tests.system.other_processor import ADDRESS, NAME, PROCESSORS, Processor, inside, reached

pytestmark = pytest.mark.system
ATTEMPTS = 3
"""An emulated machine shares its processors with this one: it may be taken away for longer than the
limits of a truth test allow. Who is right once in three cannot be wrong always."""
S = 1_000_000_000
RATE, SECONDS, STOP_S = 100, criteria.STOP_S, criteria.SERVER_STOP_S
WORKED_OFF = 0.1
"""Share of the stop that an emulated server may take for the requests that waited in it."""
DELAY_MS = 20
STOPPED = f"""\
engine=/tmp/steelyard-engine
$engine sink http --listen 127.0.0.1:8080 >/tmp/sink.out & server=$!
while ! grep -q 8080 /tmp/sink.out; do sleep 0.1; done
$engine load http://127.0.0.1:8080/ -R {RATE} -d {SECONDS}s -c 50 --json >/tmp/result & load=$!
sleep 4
read -r begin _ </proc/uptime; kill -STOP $server
sleep {STOP_S:g}
kill -CONT $server; read -r end _ </proc/uptime
wait $load; kill $server
echo $begin $end
cat /tmp/result
"""
DELAYED = f"""\
engine=/tmp/steelyard-engine
$engine sink http --listen 127.0.0.1:8081 --delay {DELAY_MS}ms >/tmp/sink.out & server=$!
while ! grep -q 8081 /tmp/sink.out; do sleep 0.1; done
$engine load http://127.0.0.1:8081/ -R 40 -d 5s -c 8 --json; kill $server
"""
STUDY = f"""\
study: other-processor
question: What does TLS cost on this processor?
systems:
  http:  {{platform: ssh, host: {NAME}, service: {{use: sink-http, tls: none}}}}
  https: {{platform: ssh, host: {NAME}, service: {{use: sink-http, tls: implicit}}}}
baseline: http
generator: {{host: {ADDRESS}, calibrate: false}}
workload: {{use: http, tls: as the service, keep_alive: false}}
load: {{users: 2}}
responses: {{throughput: {{primary: true}}}}
trials:
  margin: 20 %
  window: 1 s
  warmup: 200 ms
  reset: none
  budget: {{trials: 6 per cell}}
"""


@pytest.fixture(scope="module", params=PROCESSORS, ids=lambda each: each.machine)
def processor(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Processor]:
    """One whose guest is running and has the engine and its truth tests in ``/tmp``."""
    each: Processor = request.param
    with (
        pytest.MonkeyPatch.context() as patch,
        reached(each, tmp_path_factory.mktemp("board"), patch),
    ):
        patch.setenv(f"STEELYARD_ENGINE_{each.machine.upper()}", str(each.engine))
        carry(each.engine, "steelyard-engine")
        yield each


def test_an_engine_runs_on_its_processor(processor: Processor) -> None:
    told = inside(
        "uname -m; /tmp/steelyard-engine --version; /tmp/steelyard-engine kernel linpack --size 200"
    )
    assert told.splitlines()[0] == processor.machine


def test_what_small_servers_did_is_what_the_result_says_there(processor: Processor) -> None:
    if not processor.truth.exists():
        pytest.skip(f"needs {processor.truth.name}: TESTS=1 release/engines")
    carry(processor.truth, "truth")
    told = inside("cd /tmp && TMPDIR=/tmp ./truth --test-threads 1", timeout_s=3600)
    assert "test result: ok" in told


def test_a_rate_is_kept_there_while_the_server_stands_still(processor: Processor) -> None:
    misses = []
    for _ in range(ATTEMPTS):
        head, _, text = inside(STOPPED).partition("\n")
        begin, end = (float(each) * S for each in head.split())
        result = json.loads(text)
        assert result["counts"]["intended"] == result["counts"]["ok"] == RATE * SECONDS
        judged = judge.server_stop(report(text), end - begin, SECONDS * S)
        if judged.miss is not None and judged.miss <= WORKED_OFF / criteria.STOP_TOLERANCE:
            return
        misses.append(judged.figures)
    pytest.fail(f"{processor.machine}: {misses}")


def test_the_response_time_of_a_known_server_is_reported_there(processor: Processor) -> None:
    told = report(inside(DELAYED))
    assert told.p50_ns is not None
    assert DELAY_MS <= told.p50_ns / criteria.MS < 2 * DELAY_MS


def test_a_study_runs_there_with_the_engine_that_was_sent(
    processor: Processor, tmp_path: Path
) -> None:
    records = measured(tmp_path, STUDY)
    assert {record["cell"]["system"] for record in records} == {"http", "https"}  # type: ignore[index]
    sent = inside("ls ~/.cache/steelyard; uname -m").split()
    assert sent[0].startswith("engine-")


def carry(program: Path, name: str) -> None:
    inside(f"cat >/tmp/{name} && chmod 755 /tmp/{name}", content=program.read_bytes())


def report(text: str) -> Report:
    return Tool().report(text, None)  # type: ignore[arg-type]
