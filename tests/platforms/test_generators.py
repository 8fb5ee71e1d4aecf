"""One load from generators in network namespaces of their own, behind an `ssh` of the tests."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.platforms.needs import need

from steelyard.engine.locate import find_engine
from steelyard.hosts import lease
from steelyard.records.archive import open_run
from steelyard.records.attempt_folder import attempt_key
from steelyard.records.schema import Outcome

HUB = "10.213.7.254"
STUDY = """\
study: spread
question: Do two equal places of one server take the same load?
systems:
  one: {{platform: native, service: {{use: external, speaks: http, address: "{address}"}}}}
  two: {{platform: native, service: {{use: external, speaks: http, address: "{address}"}}}}
workload: {{use: http}}
load: {{rate: 600, arrival: constant, connections: 8}}
generator: {{host: [{hosts}]}}
responses: {{throughput: {{primary: true}}}}
trials: {{margin: 5 %, window: 400 ms, warmup: 100 ms, budget: {{trials: 6 per cell}}}}
"""
SSH = """\
#!/bin/sh
while [ "$1" != -- ]; do shift; done
exec ip netns exec "{name}-${{2#ssh://}}" sh -c "$3"
"""


@dataclass(frozen=True)
class Spread:
    """Namespaces on one bridge, with a server at the hub and an `ssh` that leads to each."""

    name: str
    folder: Path
    address: str

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        """The command line at the hub."""
        own = {
            "PATH": f"{self.folder}/bin:{os.environ['PATH']}",
            "XDG_CACHE_HOME": f"{self.folder}/cache",
            lease.VARIABLE: f"{self.folder}/lease",
        }
        return subprocess.run(
            ["ip", "netns", "exec", f"{self.name}-hub", sys.executable, "-m", "steelyard", *words],
            cwd=self.folder, env={**os.environ, **own}, capture_output=True, text=True, check=False,
        )  # fmt: skip


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True, timeout=60)


def connect(name: str, places: int) -> None:
    """Namespaces that meet on a bridge at the hub."""
    hub = f"{name}-hub"
    ip("netns", "add", hub)
    ip("-n", hub, "link", "set", "lo", "up")
    ip("-n", hub, "link", "add", "lab", "type", "bridge")
    ip("-n", hub, "addr", "add", f"{HUB}/24", "dev", "lab")
    ip("-n", hub, "link", "set", "lab", "up")
    for place in range(1, places + 1):
        own = f"{name}-g{place}"
        ip("netns", "add", own)
        peer = ("peer", "name", "eth0", "netns", own)
        ip("-n", hub, "link", "add", f"g{place}", "type", "veth", *peer)
        ip("-n", hub, "link", "set", f"g{place}", "master", "lab", "up")
        ip("-n", own, "addr", "add", HUB.replace("254", str(place)) + "/24", "dev", "eth0")
        ip("-n", own, "link", "set", "eth0", "up")
        ip("-n", own, "link", "set", "lo", "up")


@pytest.fixture
def spread(name: str, tmp_path: Path) -> Iterator[Spread]:
    need("ip", root=True)
    places = 3
    try:
        connect(name, places)
        (tmp_path / "bin").mkdir()
        ssh = tmp_path / "bin" / "ssh"
        ssh.write_text(SSH.format(name=name))
        ssh.chmod(0o755)
        argv = [str(find_engine()), "sink", "http", "--listen", f"{HUB}:0"]
        with subprocess.Popen(
            ["ip", "netns", "exec", f"{name}-hub", *argv], stdout=subprocess.PIPE, text=True
        ) as sink:
            assert sink.stdout is not None
            said = json.loads(sink.stdout.readline())
            yield Spread(name, tmp_path, said["listening"])
            sink.kill()
    finally:
        for place in ("hub", *(f"g{number}" for number in range(1, places + 1))):
            subprocess.run(["ip", "netns", "delete", f"{name}-{place}"], check=False)


def test_three_generators_in_namespaces_of_their_own_drive_the_rate_that_was_asked(
    spread: Spread,
) -> None:
    hosts = ", ".join(f"ssh://g{place}" for place in (1, 2, 3))
    study = STUDY.format(address=spread.address, hosts=hosts)
    (spread.folder / "study.yaml").write_text(study)
    done = spread.run("run", ".", "--seed", "1", "--format", "md")
    assert done.returncode == 0, done.stderr
    run = open_run(spread.folder / "results" / "spread")
    records = run.records()
    good = [record for record in records if record.outcome is Outcome.OK]
    assert good
    for record in good:
        (instance,) = record.instances
        assert [one.machine for one in instance.generators] == ["ssh://g1", "ssh://g2", "ssh://g3"]
        key = attempt_key(record.trial, record.attempt)
        whole = json.loads((Path(run.path) / "trials" / key / "load.json").read_text())
        assert whole["counts"]["intended"] == pytest.approx(600 * 0.4, abs=1)


def test_a_generator_that_cannot_be_reached_is_named_before_anything_starts(
    spread: Spread,
) -> None:
    study = STUDY.format(address=spread.address, hosts="ssh://g1, ssh://nowhere")
    (spread.folder / "study.yaml").write_text(study)
    told = spread.run("doctor", ".")
    assert "ssh://nowhere" in told.stdout + told.stderr
