"""What the server of a disk fails to do is the failure of a trial, and never damage."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, cast

import pytest

from steelyard.records.disk_checks import ContentChanged, DiskCheck
from steelyard.records.schema import Outcome
from steelyard.systems import disks
from steelyard.systems.platform import AttachedDisk, RawDisk
from steelyard.trial.attempt.attempt import Attempt
from steelyard.trial.attempt.disk_checks import check_disks_of, damaged
from steelyard.trial.attempt.instance import Instance
from steelyard.trial.attempt.servers_of_disks import server_failed

DAMAGE = ContentChanged(files=1, names=("a",), test_file=False)


def attempt_of(*said: str | None) -> tuple[Attempt, Instance]:
    """An attempt with one disk, whose server has failed so when it is asked again and again."""
    answers: Iterator[str | None] = iter(said)
    disk = AttachedDisk(RawDisk("data-1", 1), "/dev/vdb", failed=lambda: next(answers))
    instance: Any = SimpleNamespace(
        number=1,
        host=None,
        attached=[disk],
        prepared={"data": SimpleNamespace(device="/dev/vdb")},
        checksums_of=lambda name: f"/{name}.sha256",
    )
    cell = SimpleNamespace(system=SimpleNamespace(disks={"data": {"check": "files"}}))
    attempt: Any = SimpleNamespace(cell=cell, instances=[instance])
    return cast("Attempt", attempt), cast("Instance", instance)


def test_a_server_that_failed_is_the_reason_whatever_the_system_did() -> None:
    failed = server_failed(attempt_of("its server failed: 2 writes of nbd://store/data")[0])
    assert failed is not None
    assert failed.outcome is Outcome.UNREACHABLE
    assert "data-1" in failed.message
    assert server_failed(attempt_of(None)[0]) is None


@pytest.mark.parametrize(
    ("said", "seen"), [((None, None), True), (("gone",), False), ((None, "gone"), False)]
)
def test_damage_counts_only_while_the_server_answers(
    monkeypatch: pytest.MonkeyPatch, said: tuple[str | None, ...], seen: bool
) -> None:
    found = DiskCheck(instance=1, disk="data", device="/dev/vdb", damage=(DAMAGE,))
    monkeypatch.setattr(disks, "check_disk", lambda *_, **__: found)
    (check,) = check_disks_of(*attempt_of(*said))
    assert (damaged([check]) is not None) is seen
    assert check.not_checked == ({} if seen else {"filesystem": "disk `data-1`: gone"})
