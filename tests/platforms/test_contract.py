"""Every platform keeps every promise, on the real thing; see steelyard/systems/contract."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.platforms.places import PLACES

from steelyard.engine.locate import find_engine
from steelyard.hosts.host import Host
from steelyard.hosts.transport import here, open_local_pipe
from steelyard.study import catalogue
from steelyard.systems.contract.bench import Bench
from steelyard.systems.contract.checks import CHECKS
from steelyard.systems.contract.sitting import sit
from steelyard.systems.contract.traces import traces
from steelyard.systems.platforms import PLATFORMS


@pytest.fixture(scope="module", params=PLACES)
def bench(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Bench]:
    folder = tmp_path_factory.mktemp(request.param)
    platform, prepared = PLACES[request.param]
    declared = catalogue.platform(platform)
    with prepared(folder) as settings:
        made = Bench(PLATFORMS[platform], declared, settings, local, folder)
        yield made
        made.close()
    host = local()
    try:
        assert traces(host, made.run) == [], "the platform left something on this machine"
    finally:
        host.close()


def local() -> Host:
    return Host("local", open_local_pipe(), here, str(find_engine()))


@pytest.mark.parametrize("check", CHECKS)
def test_a_platform_keeps_its_promise(bench: Bench, check: str) -> None:
    (finding,) = sit(bench, [check])
    assert finding.grade != "bad", finding.seen
    if finding.grade == "note":
        pytest.skip(finding.seen)
