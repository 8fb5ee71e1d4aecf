"""What a check of a platform says it saw, for who reads `steelyard doctor --platform`."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

from tests.unit.hosts.stand_in import Machine

from steelyard.systems.conformance.bench import Bench
from steelyard.systems.conformance.checks import costs_exist
from steelyard.systems.conformance.resets import said_of
from steelyard.systems.platform import Costs

BOOT_ID = "4121b90c-c8e5-49a0-8c5c-6dfa29431234"


def test_what_stands_for_an_instance_is_reported_with_its_kind() -> None:
    costs = Costs(processes={"container": 7}, cgroups={"container": "/sys/fs/cgroup/box"})
    machine = Machine(files={"/proc/7": "", "/sys/fs/cgroup/box": ""})
    place = SimpleNamespace(costs=lambda: costs)
    bench = cast("Bench", SimpleNamespace(place=lambda: place, host_machine=machine.host))
    assert costs_exist(bench) == "process container, control group container"


def test_a_boot_id_is_reported_whole_and_a_digest_ends_in_dots() -> None:
    assert said_of({"boot_id": BOOT_ID}) == f"boot_id {BOOT_ID}"
    assert said_of({"container.id": 64 * "a", "overlay.bytes": "0"}) == (
        f"container.id {32 * 'a'}..., overlay.bytes 0"
    )
