"""systemd-nspawn keeps every promise of a platform, where it can be run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.platforms.needs import need
from tests.platforms.promises import keeps_its_promise, leaving_nothing, limits_of_memory, local

from steelyard.study import catalogue
from steelyard.systems.conformance.bench import Bench
from steelyard.systems.conformance.checks import CHECKS
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
    settings = PLACES[request.param]
    with leaving_nothing(PLATFORMS["nspawn"], declared, settings, local, folder) as made:
        yield made
    assert not list(Path("/sys/fs/cgroup").rglob(f"*{made.run}*")), "control groups are left"


@pytest.mark.parametrize("check", CHECKS)
def test_nspawn_keeps_its_promise(bench: Bench, check: str) -> None:
    keeps_its_promise(bench, check)


def test_limits_hold_inside(bench: Bench) -> None:
    place = bench.place()
    if "memory" not in place.context.spec.settings:
        pytest.skip("this place has no limits")
    assert limits_of_memory(place.context.label) == [str(256 << 20)]
    (leader,) = place.costs().processes.values()
    assert place.context.label in Path(f"/proc/{leader}/cgroup").read_text()
