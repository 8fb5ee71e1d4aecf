"""Guests of QEMU on a machine behind ``ssh``: the tests' own server on loopback."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.platforms.guests import IMAGE, guest_settings
from tests.platforms.promises import keeps_its_promise
from tests.platforms.sshd import ADDRESS, Sshd
from tests.platforms.test_carried_by_ssh import measured

from steelyard.hosts.ssh import open_ssh
from steelyard.study import catalogue
from steelyard.systems.conformance.bench import Bench
from steelyard.systems.conformance.checks import CHECKS
from steelyard.systems.images.build import build_image
from steelyard.systems.images.recipe import find_recipe
from steelyard.systems.platforms import PLATFORMS

pytestmark = pytest.mark.system
STUDY = f"""\
study: far-guests
question: Does the cache of its disk matter to a guest on another machine?
defaults: {{host_machine: {ADDRESS}, service: {{use: sink-http}}}}
systems:
  through: {{platform: qemu, accel: tcg, memory: 256 MiB, disk_cache: writethrough}}
  unsafe:  {{platform: qemu, accel: tcg, memory: 256 MiB, disk_cache: unsafe}}
generator: {{host: {ADDRESS}, calibrate: false}}
workload: {{use: http}}
load: {{users: 2}}
responses: {{throughput: {{primary: true}}}}
trials:
  margin: 5 %
  window: 1 s
  warmup: 100 ms
  reset: snapshot
  budget: {{trials: 6 per cell}}
"""


@pytest.fixture(scope="module")
def far(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The other machine, where the image lies, too."""
    guest_settings()
    server = Sshd(tmp_path_factory.mktemp("far"))
    with pytest.MonkeyPatch.context() as patch, server.running(patch):
        host = open_ssh(ADDRESS)
        try:
            build_image(host, find_recipe(IMAGE), "guest")
        finally:
            host.close()
        yield


@pytest.fixture(scope="module")
def bench(far: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    settings = {**guest_settings(), "network": "lab"}
    made = Bench(
        PLATFORMS["qemu"],
        catalogue.platform("qemu"),
        settings,
        lambda: open_ssh(ADDRESS),
        tmp_path_factory.mktemp("bench"),
    )
    yield made
    made.close()


@pytest.mark.parametrize("check", CHECKS)
def test_a_guest_of_another_machine_keeps_the_promises_of_one_here(
    bench: Bench, check: str
) -> None:
    keeps_its_promise(bench, check)


def test_a_study_runs_guests_of_another_machine_and_tells_what_they_cost_there(
    far: None, tmp_path: Path
) -> None:
    records = measured(tmp_path, STUDY)
    costs = [each["costs"] for record in records for each in record["instances"]]  # type: ignore[attr-defined]
    assert all(cost["instance_cores"] > 0 for cost in costs)
