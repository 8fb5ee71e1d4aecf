"""What of a machine is ours is known by its parents."""

from __future__ import annotations

import pytest
from tests.unit.hosts.stand_in import Machine

from steelyard.trial.ours import descends

PARENTS = {300: 200, 200: 100, 100: 1, 400: 1}


def machine() -> Machine:
    files = {
        f"/proc/{pid}/stat": f"{pid} (a (b) c) S {parent} {pid} 0\n"
        for pid, parent in PARENTS.items()
    }
    return Machine(files=files)


@pytest.mark.parametrize(
    ("pid", "ours"), [(300, True), (100, True), (400, False), (1, False), (None, False)]
)
def test_what_stands_below_our_process_is_ours(pid: int | None, ours: bool) -> None:
    assert descends(machine().host(), pid, 100) is ours
