"""What of a machine is ours is known by its parents."""

from __future__ import annotations

import pytest
from tests.unit.hosts.stand_in import Machine

from steelyard.systems.images.engine_layer import starts_only_us
from steelyard.trial.observe.process_ownership import descends

PARENTS = {300: 200, 200: 100, 100: 1, 400: 1}
HAS_ENDED = 999


def machine() -> Machine:
    files = {
        f"/proc/{pid}/stat": f"{pid} (a (b) c) S {parent} {pid} 0\n"
        for pid, parent in PARENTS.items()
    }
    return Machine(files=files)


@pytest.mark.parametrize(
    ("pid", "ours"),
    [(300, True), (100, True), (400, False), (1, False), (None, False), (999, False)],
)
def test_what_stands_below_our_process_is_ours(pid: int | None, ours: bool) -> None:
    assert descends(machine().host(), pid, 100) is ours


@pytest.mark.parametrize(
    ("files", "first"),
    [
        ({"/proc/1/cmdline": "/run/steelyard/busybox\0sh\0/run/steelyard/serve\0"}, True),
        ({"/proc/1/cmdline": "/lib/systemd/systemd\0"}, False),
        ({}, False),
    ],
    ids=["the engine's", "systemd", "hidden"],
)
def test_a_guest_starts_only_us_where_its_first_program_is_ours(
    files: dict[str, str], first: bool
) -> None:
    assert starts_only_us(Machine(files=files).host()) is first
