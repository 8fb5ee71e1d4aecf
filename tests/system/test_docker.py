"""Docker for real: a container in a daemon of the test's own."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import pytest
from tests.platforms.promises import keeps_its_promise, leaving_nothing, refusal, seen_from
from tests.system.conftest import IMAGE
from tests.system.dockerd import Dockerd

from steelyard.study import catalogue
from steelyard.systems.command_line.platform import CommandLinePlatform
from steelyard.systems.conformance.bench import Bench
from steelyard.systems.conformance.checks import CHECKS

pytestmark = pytest.mark.system
DOCKER = catalogue.platform("docker")


@pytest.fixture(scope="module")
def bench(dockerd: Dockerd) -> Iterator[Bench]:
    settings = {"image": IMAGE, "cpus": 1, "memory": 256 << 20, "network": "bridge"}
    folder = dockerd.folder / "bench"
    folder.mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DOCKER_HOST", dockerd.socket)
        host_machine = partial(seen_from, dockerd.enter)
        make = partial(CommandLinePlatform, platform=DOCKER)
        with leaving_nothing(make, DOCKER, settings, host_machine, folder) as made:
            yield made
        assert made.run not in dockerd.docker("ps", "--all")


@pytest.mark.parametrize("check", CHECKS)
def test_docker_keeps_its_promise(bench: Bench, check: str) -> None:
    keeps_its_promise(bench, check)


@pytest.mark.parametrize(
    ("setting", "value", "kind"),
    [("image", "nothing", "image_missing"), ("network", "nowhere", "not_supported")],
)
def test_what_docker_itself_says_becomes_a_typed_failure(
    bench: Bench, setting: str, value: str, kind: str
) -> None:
    context = bench.context(f"{setting}")
    context.spec.settings[setting] = value
    place = CommandLinePlatform(context, DOCKER)
    failure = refusal(place)
    assert failure.kind == kind, failure.message
