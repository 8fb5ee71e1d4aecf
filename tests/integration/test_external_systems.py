"""Systems that carry no agent: a service at an address, and findings that name what is unknown."""

from __future__ import annotations

import json
import signal
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from steelyard.judge.findings import RunFindings
from steelyard.judge.kinds.caveats import SystemsNotSeen
from steelyard.records.archive import open_run
from steelyard.records.missing import Reason
from steelyard.report.sentences.trust import State, trust_lines
from tests.integration.conftest import Steelyard

STUDY = """\
study: appliances
question: Which of two appliances answers faster?
systems:
  box:
    platform: external
    described: a box
    service: {{use: external, address: "{box}", speaks: http}}
  {other}
workload: {{use: http}}
load: {{users: 1}}
responses: {{throughput: {{primary: true}}, response.p50: {{}}, system.cpu: {{}}, host.cpu: {{}}}}
generator: {{calibrate: false}}
trials: {{margin: 50 %, window: 100 ms, warmup: 20 ms, budget: {{trials: 6 per cell}}}}
sample: {{every: 100 ms}}
"""
NATIVE = "here: {platform: native, service: {use: sink-http}}"


@contextmanager
def appliance(steelyard: Steelyard) -> Iterator[str]:
    """The address of a server that no trial starts or stops."""
    sink = steelyard.start("sink", "http")
    try:
        assert sink.stdout is not None
        yield json.loads(sink.stdout.readline())["listening"]
    finally:
        sink.send_signal(signal.SIGINT)
        sink.communicate()


def findings_of(steelyard: Steelyard, study: str) -> RunFindings:
    steelyard.folder.joinpath("study.yaml").write_text(study, encoding="utf-8")
    done = steelyard.run("run", "study.yaml")
    assert done.returncode in (0, 1), done.stderr
    run = open_run(steelyard.folder / "results" / "appliances")
    document = (run.report_path / "findings.json").read_text(encoding="utf-8")
    return RunFindings.model_validate(json.loads(document))


def test_two_systems_without_an_agent_are_compared_and_what_is_not_known_of_them_is_said(
    steelyard: Steelyard,
) -> None:
    with ExitStack() as stack:
        one, two = (stack.enter_context(appliance(steelyard)) for _ in range(2))
        other = (
            f"another: {{platform: external, service: {{use: external, address: '{two}', "
            "speaks: http}}"
        )
        found = findings_of(steelyard, STUDY.format(box=one, other=other))
    workload = found.workloads[0]
    [caveat] = [each for each in workload.caveats if isinstance(each, SystemsNotSeen)]
    assert caveat.systems == ("box", "another")
    assert caveat.facts > 0
    [line] = [each for each in trust_lines(found) if each.title == "Configuration"]
    assert line.state is State.UNKNOWN
    assert found.differences
    assert all(each.declared for each in found.differences)
    records = list(open_run(steelyard.folder / "results" / "appliances").records())
    for record in records:
        assert not {"kernel.release", "cpu.model", "hostname"} & record.facts["system"].keys()
        assert record.files == ("load.json",)
        for name in ("system.cpu", "host.cpu"):
            assert record.responses[name].missing == Reason(kind="no_agent")
    assert any((record.value("throughput") or 0) > 0 for record in records)


def test_a_service_that_does_not_answer_is_named_before_anything_starts(
    steelyard: Steelyard,
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as held:
        gone = f"127.0.0.1:{held.getsockname()[1]}"
    with appliance(steelyard) as there:
        other = (
            f"another: {{platform: external, service: {{use: external, address: '{there}', "
            "speaks: http}}"
        )
        study = STUDY.format(box=gone, other=other)
        steelyard.folder.joinpath("study.yaml").write_text(study, encoding="utf-8")
        done = steelyard.run("run", "study.yaml")
        examined = steelyard.run("doctor", "study.yaml")
        planned = steelyard.run("plan", "--changes", "study.yaml")
    assert done.returncode == 3
    assert f"study.yaml:7:5: no one answers at {gone}" in done.stderr
    assert "fix `address` of the service" in done.stderr
    assert not open_run(steelyard.folder / "results" / "appliances").records()
    assert examined.returncode == 3
    assert f"no one answers at {gone}" in examined.stdout
    assert planned.returncode == 0, planned.stderr


def test_what_is_not_known_of_a_system_is_no_difference_to_one_that_is_known(
    steelyard: Steelyard,
) -> None:
    with appliance(steelyard) as address:
        found = findings_of(steelyard, STUDY.format(box=address, other=NATIVE))
    facts = {each.fact for each in found.differences if each.is_confounder}
    assert not [fact for fact in facts if fact.startswith(("kernel.", "cpu.", "memory."))]
    [caveat] = [each for each in found.workloads[0].caveats if isinstance(each, SystemsNotSeen)]
    assert caveat.systems == ("box",)
