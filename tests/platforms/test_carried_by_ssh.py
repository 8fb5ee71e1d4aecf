"""Containers and images on a machine behind ``ssh``: the tests' own server on loopback."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.integration.conftest import Steelyard
from tests.platforms.guests import built
from tests.platforms.needs import need
from tests.platforms.promises import keeps_its_promise
from tests.platforms.sshd import ADDRESS, Sshd

from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.ssh import open_ssh
from steelyard.study import catalogue
from steelyard.systems.conformance.bench import Bench
from steelyard.systems.conformance.checks import CHECKS
from steelyard.systems.platforms import PLATFORMS
from steelyard.systems.qemu.guest_image import guest_image

LONGEST_S = 900
FAR_GENERATOR = f"""\
study: far-generator
question: Does it matter how many processors serve what another machine asks for?
systems:
  one: {{platform: native, confine: {{cpus: 1}}, service: {{use: sink-http}}}}
  two: {{platform: native, confine: {{cpus: 2}}, service: {{use: sink-http}}}}
generator: {{host: {ADDRESS}}}
workload: {{use: http}}
load: {{users: 2}}
responses: {{throughput: {{primary: true}}}}
sample: {{where: [system, host, generator]}}
trials:
  margin: 5 %
  window: 200 ms
  warmup: 20 ms
  budget: {{trials: 6 per cell}}
"""
FAR_CARRIER = f"""\
study: far-host
question: Does a limit of one processor matter to a container on another machine?
defaults: {{host_machine: {ADDRESS}, service: {{use: sink-http}}}}
systems:
  free:    {{platform: podman}}
  limited: {{platform: podman, cpus: 1}}
generator: {{host: {ADDRESS}}}
workload: {{use: http}}
load: {{users: 2}}
responses: {{throughput: {{primary: true}}}}
trials:
  margin: 5 %
  window: 200 ms
  warmup: 20 ms
  reset: container
  budget: {{trials: 6 per cell}}
"""


@pytest.fixture(scope="module")
def sshd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sshd]:
    server = Sshd(tmp_path_factory.mktemp("far"))
    with pytest.MonkeyPatch.context() as patch, server.running(patch):
        yield server


def steelyard(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "steelyard", *words],
        cwd=folder,
        env={**os.environ, "NO_COLOR": "1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=LONGEST_S,
        check=False,
    )


def measured(folder: Path, text: str) -> list[dict[str, object]]:
    """Records of the study's trials, which all ended well and left nothing to take back."""
    (folder / "study.yaml").write_text(text, encoding="utf-8")
    ran = steelyard(folder, "run", "study.yaml", "--format", "md")
    assert ran.returncode in (0, 1), ran.stderr
    return all_good(folder, ran.stderr)


def begun(folder: Path, text: str, trials: int) -> list[dict[str, object]]:
    """As :func:`measured`, of a run that is interrupted after so many: no verdict is looked for."""
    (folder / "study.yaml").write_text(text, encoding="utf-8")
    lab = Steelyard(folder)
    process = lab.start("run", "study.yaml", "--seed", "1")
    end = time.monotonic() + LONGEST_S
    while process.poll() is None and not any(folder.glob(f"results/*/*/trials/{trials:04d}-1")):
        assert time.monotonic() < end, "they are never measured"
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=LONGEST_S)
    assert process.returncode == 130, stderr
    assert lab.wait_until_no_process() == []
    found = all_good(folder, stderr, "interrupted")
    return [record for record in found if record["outcome"] == "ok"]


def all_good(folder: Path, said: str, *besides: str) -> list[dict[str, object]]:
    """Every record; all changes of the run were taken back."""
    (ledger,) = folder.glob("results/*/*/ledger.jsonl")
    events = [json.loads(line) for line in ledger.read_text().splitlines()]
    planned = {e["undo"] for e in events if e["event"] == "undo_planned"}
    assert planned == {e["undo"] for e in events if e["event"] == "undone"}
    files = ledger.parent.glob("trials/*/record.json")
    records = [json.loads(file.read_text()) for file in files]
    assert {record["outcome"] for record in records} - {*besides} == {"ok"}, said
    return records


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_a_study_is_driven_by_a_generator_behind_ssh(sshd: Sshd, tmp_path: Path) -> None:
    records = measured(tmp_path, FAR_GENERATOR)
    assert {record["cell"]["system"] for record in records} == {"one", "two"}  # type: ignore[index]
    assert all(record["calibration"]["capacity_per_s"] > 0 for record in records)  # type: ignore[index]


def test_a_study_runs_containers_of_another_machine(sshd: Sshd, tmp_path: Path) -> None:
    need("podman", "ip", "nsenter", root=True)
    records = begun(tmp_path, FAR_CARRIER, trials=3)
    assert {record["cell"]["system"] for record in records} == {"free", "limited"}  # type: ignore[index]


@pytest.fixture(scope="module")
def bench(sshd: Sshd, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    need("podman", "ip", "nsenter", root=True)
    settings = {"network": "lab", "storage": "overlay"}
    made = Bench(
        PLATFORMS["podman"],
        catalogue.platform("podman"),
        settings,
        lambda: open_ssh(ADDRESS),
        tmp_path_factory.mktemp("bench"),
    )
    yield made
    made.close()


@pytest.mark.parametrize("check", CHECKS)
def test_a_container_of_another_machine_keeps_the_promises_of_one_here(
    bench: Bench, check: str
) -> None:
    keeps_its_promise(bench, check)


def test_an_image_that_is_here_is_copied_there_and_not_built_again(
    sshd: Sshd, tmp_path: Path
) -> None:
    built("debian-minimal", "guest")
    first = steelyard(tmp_path, "image", "build", "debian-minimal", "--on", ADDRESS)
    assert first.returncode == 0, first.stderr
    folder = Path(first.stdout.strip())
    assert folder.is_relative_to(sshd.folder)
    assert "copying" in first.stderr
    again = steelyard(tmp_path, "image", "build", "debian-minimal", "--on", ADDRESS)
    assert (again.stdout, again.stderr) == (first.stdout, "")
    listed = steelyard(tmp_path, "image", "list", "--on", ADDRESS).stdout
    assert re.search(r"^debian-minimal +guest +built", listed, re.MULTILINE)


def test_an_image_that_is_not_there_is_named_with_the_words_that_bring_it(sshd: Sshd) -> None:
    host = open_ssh(ADDRESS)
    try:
        with pytest.raises(SystemFailure) as missing:
            guest_image(host, "debian-tuned")
    finally:
        host.close()
    assert missing.value.hint == f"build it: steelyard image build debian-tuned --on {ADDRESS}"
