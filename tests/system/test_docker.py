"""Docker for real: a container in a daemon of the test's own."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import pytest
from tests.system.conftest import IMAGE
from tests.system.dockerd import Dockerd

from steelyard.engine.agent import Agent
from steelyard.engine.locate import find_engine
from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.host import Host
from steelyard.study import catalogue
from steelyard.systems.commanded import Commanded
from steelyard.systems.contract.bench import Bench
from steelyard.systems.contract.checks import CHECKS
from steelyard.systems.contract.sitting import sit
from steelyard.systems.contract.traces import traces

pytestmark = pytest.mark.system
DOCKER = catalogue.platform("docker")


@pytest.fixture(scope="module")
def bench(dockerd: Dockerd) -> Iterator[Bench]:
    settings = {"image": IMAGE, "cpus": 1, "memory": 256 << 20, "network": "bridge"}
    folder = dockerd.folder / "bench"
    folder.mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DOCKER_HOST", dockerd.socket)
        carrier = partial(_in_the_namespace, dockerd)
        make = partial(Commanded, platform=DOCKER)
        made = Bench(make, DOCKER, settings, carrier, folder)
        yield made
        made.close()
        host = carrier()
        try:
            assert traces(host, made.run) == []
            assert made.run not in dockerd.docker("ps", "--all")
        finally:
            host.close()


def _in_the_namespace(dockerd: Dockerd) -> Host:
    """This machine, seen from where Docker's bridge is."""
    engine = str(find_engine())
    return Host("local", Agent(dockerd.enter([engine, "agent"])), engine=engine)


@pytest.mark.parametrize("check", CHECKS)
def test_docker_keeps_its_promise(bench: Bench, check: str) -> None:
    (finding,) = sit(bench, [check])
    assert finding.grade != "bad", finding.seen
    if finding.grade == "note":
        pytest.skip(finding.seen)


@pytest.mark.parametrize(
    ("setting", "value", "kind"),
    [("image", "nothing", "image_missing"), ("network", "nowhere", "not_supported")],
)
def test_what_docker_itself_says_becomes_a_typed_failure(
    bench: Bench, setting: str, value: str, kind: str
) -> None:
    ground = bench.ground(f"{setting}")
    ground.spec.settings[setting] = value
    place = Commanded(ground, DOCKER)
    with pytest.raises(SystemFailure) as failure:
        place.up()
    place.down()
    assert failure.value.kind == kind, failure.value.message
