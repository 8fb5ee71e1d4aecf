"""systemd-nspawn keeps every promise of a platform, where it can be run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.platforms.needs import need
from tests.platforms.test_contract import local

from steelyard.study import catalogue
from steelyard.systems.contract.bench import Bench
from steelyard.systems.contract.checks import CHECKS
from steelyard.systems.contract.sitting import sit
from steelyard.systems.contract.traces import traces
from steelyard.systems.platforms import PLATFORMS

pytestmark = pytest.mark.system
PLACES = {
    "lab": {"network": "lab", "cpus": 1, "memory": 256 << 20},
    "host": {"network": "host"},
}


@pytest.fixture(scope="module", params=PLACES)
def bench(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Bench]:
    need("systemd-nspawn", "ip", "nsenter", root=True)
    folder = tmp_path_factory.mktemp(request.param)
    declared = catalogue.platform("nspawn")
    made = Bench(PLATFORMS["nspawn"], declared, PLACES[request.param], local, folder)
    yield made
    made.close()
    host = local()
    try:
        assert traces(host, made.run) == [], "the platform left something on this machine"
        found = host.run(["find", "/sys/fs/cgroup", "-name", f"*{made.run}*"], timeout_s=60)
        assert found.stdout == "", "control groups were left behind"
    finally:
        host.close()


@pytest.mark.parametrize("check", CHECKS)
def test_nspawn_keeps_its_promise(bench: Bench, check: str) -> None:
    (finding,) = sit(bench, [check])
    assert finding.grade != "bad", finding.seen
    if finding.grade == "note":
        pytest.skip(finding.seen)


def test_limits_hold_inside(bench: Bench) -> None:
    place = bench.place()
    if "memory" not in place.ground.spec.settings:
        pytest.skip("this place has no limits")
    files = [
        file
        for name in ("memory.limit_in_bytes", "memory.max")
        for file in Path("/sys/fs/cgroup").rglob(name)
        if file.parent.name == place.ground.label
    ]
    assert [file.read_text().strip() for file in files] == [str(256 << 20)]
    (leader,) = place.costs().processes.values()
    assert place.ground.label in Path(f"/proc/{leader}/cgroup").read_text()
