"""From a study with servers that people run to its records, by the real command line."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from steelyard.records.schema import TrialRecord
from tests.integration.conftest import Steelyard, assert_each_ended_well
from tests.integration.servers.private_server import open_folder, require_program, require_root
from tests.integration.services.started import assert_nobody_holds

GUIDE = Path(__file__).parents[3] / "docs" / "guide" / "add-a-service.md"
SERVICE_FILE, STUDY = re.findall(r"```yaml\n(.*?)```", GUIDE.read_text("utf-8"), re.DOTALL)
PAIR = """\
study: pair
question: Does one of the two serve faster than the other?
systems:
  one: {{platform: native, service: {{{one}}}}}
  two: {{platform: native, service: {{{two}}}}}
workload: {{{workload}}}
load: {{users: 2}}
responses: {{throughput: {{primary: true}}, service.cpu: {{}}, service.memory: {{}}}}
gates: {{errors: none}}
trials: {{margin: 5 %, window: 200 ms, warmup: 20 ms, retry: 1, budget: {{trials: 6 per cell}}}}
sample: {{every: 100 ms}}
"""
SHORT = "trials: {margin: 5 %, window: 100 ms, warmup: 20 ms, budget: {trials: 6 per cell}}"


@pytest.fixture
def lab() -> Iterator[Steelyard]:
    """The command line in a folder that services' users may enter."""
    with open_folder() as folder:
        tool = Steelyard(folder)
        yield tool
        assert tool.wait_until_no_process() == []
        assert_nobody_holds(folder)


def records(lab: Steelyard, name: str) -> list[dict[str, Any]]:
    found = sorted((lab.folder / "results" / name).glob("*/trials/*/record.json"))
    return [json.loads(path.read_text(encoding="utf-8")) for path in found]


def run(lab: Steelyard, text: str, name: str = "pair") -> list[dict[str, Any]]:
    (lab.folder / "study.yaml").write_text(text, encoding="utf-8")
    done = lab.run("run", ".")
    kept = records(lab, name)
    assert_each_ended_well(map(TrialRecord.model_validate, kept))
    assert done.returncode == 0, done.stderr
    return [each for each in kept if each["outcome"] == "ok"]


def versions(kept: list[dict[str, Any]]) -> dict[str, str]:
    return {each["cell"]["system"]: each["facts"]["system"]["service.version"] for each in kept}


def test_nginx_is_compared_with_apache(lab: Steelyard) -> None:
    require_program("nginx", "nginx-light")
    require_program("apache2", "apache2-bin")
    pair = {"one": "use: nginx, body: 4 KiB", "two": "use: apache, mpm: worker, body: 4 KiB"}
    kept = run(lab, PAIR.format(workload="use: http", **pair))
    told = versions(kept)
    assert told["one"].startswith("1.")
    assert told["two"].startswith("2.")
    assert kept[0]["facts"]["system"]["service.body"] == "4096"


@pytest.mark.extended
def test_postfix_is_compared_with_the_engines_own_server(lab: Steelyard) -> None:
    require_program("postfix", "postfix")
    require_root("postfix")
    pair = {"one": "use: sink-smtp", "two": "use: postfix"}
    kept = run(lab, PAIR.format(workload="use: smtp", **pair))
    assert versions(kept)["two"].startswith("3.")
    links = Path("/tmp").glob("steelyard-*/f")  # of another test's too, which may go meanwhile
    assert [link for link in links if link.resolve().is_relative_to(lab.folder.resolve())] == []


@pytest.mark.extended
def test_the_example_of_the_guide_runs_and_is_kept_with_the_run(lab: Steelyard) -> None:
    file = lab.folder / "services" / "python-http.yaml"
    file.parent.mkdir()
    file.write_text(SERVICE_FILE, encoding="utf-8")
    text = re.sub(r"trials: .*", SHORT, STUDY)
    kept = run(lab, text, "python-against-sink")
    assert versions(kept)["python"].startswith("3.")
    copies = list(lab.folder.glob("results/*/*/services/python-http.yaml"))
    assert [copy.read_text(encoding="utf-8") for copy in copies] == [SERVICE_FILE]
    shutil.rmtree(file.parent)
    assert lab.run("report", "results/python-against-sink").returncode == 0


def test_a_missing_program_ends_the_session_before_it_measures_nothing(lab: Steelyard) -> None:
    file = lab.folder / "services" / "mine.yaml"
    file.parent.mkdir()
    lacking = SERVICE_FILE.replace("requires: [python3]", "requires: [no-such-server]")
    file.write_text(lacking, encoding="utf-8")
    text = PAIR.format(workload="use: http", one="use: sink-http", two="use: mine")
    (lab.folder / "study.yaml").write_text(text, encoding="utf-8")
    done = lab.run("run", ".")
    assert done.returncode != 0
    assert "no-such-server" in done.stderr
    assert "python3-minimal" in done.stderr


@pytest.mark.extended
def test_a_server_that_runs_already_is_compared_and_lives_on(lab: Steelyard) -> None:
    sink = lab.start("sink", "http")
    assert sink.stdout is not None
    address = json.loads(sink.stdout.readline())["listening"]
    try:
        pair = {
            "one": "use: sink-http",
            "two": f'use: external, address: "{address}", speaks: http',
        }
        kept = run(lab, PAIR.format(workload="use: http", **pair))
        of_two = [each for each in kept if each["cell"]["system"] == "two"]
        assert {each["facts"]["system"]["service.reset"] for each in of_two} == {
            "nothing was reset"
        }
        missing = {each["responses"]["service.cpu"]["value"] for each in of_two}
        assert missing == {None}
        assert sink.poll() is None
    finally:
        sink.terminate()
        sink.communicate()


FULL = """\
study: full
question: Does a server with small mailboxes take as many messages?
systems:
  roomy: {platform: native, service: {use: dovecot, mailboxes: 2}}
  small: {platform: native, service: {use: dovecot, mailboxes: 2, quota: true, quota_size: 50 kB}}
workload: {use: lmtp, recipients: 2, body: 8 KiB}
responses: {throughput: {primary: true}, errors.no_room: {}}
gates: {errors.no_room: at most 10 %}
trials: {margin: 50 %, window: 1500 ms, warmup: 0 s, retry: 0, budget: {trials: 6 per cell}}
"""


@pytest.mark.extended
def test_what_full_mailboxes_refuse_is_counted_shown_and_gated(lab: Steelyard) -> None:
    require_root("dovecot")
    require_program("dovecot", "dovecot-lmtpd")
    (lab.folder / "study.yaml").write_text(FULL, encoding="utf-8")
    told = lab.run("run", ".")
    kept = records(lab, "full")
    small = [each for each in kept if each["cell"]["system"] == "small"]
    roomy = [each for each in kept if each["cell"]["system"] == "roomy"]
    assert {each["outcome"] for each in small} == {"refused_by_gate"}, told.stdout + told.stderr
    assert {each["outcome"] for each in roomy} == {"ok"}
    assert all(each["responses"]["errors.no_room"]["value"] > 0.1 for each in small)
    assert all(each["responses"]["errors.no_room"]["value"] == 0 for each in roomy)
    assert "no_room" in told.stdout + told.stderr
