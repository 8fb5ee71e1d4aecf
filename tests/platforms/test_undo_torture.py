"""kill -9 at any instant, then ``steelyard restore``: the machine is as it was found."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.platforms.alone import alone_with_the_machine
from tests.platforms.needs import need
from tests.platforms.sshd import ADDRESS, Sshd
from tests.platforms.torture import studies
from tests.platforms.torture.session import Session, StudySession, Victim
from tests.platforms.torture.torture import left_behind, survive

VICTIMS: tuple[Victim, ...] = ("controller", "agent", "both")
INSTANTS_HERE = 3
INSTANTS_OF_A_STUDY = 2
INSTANTS_FAR = 1
EVENTS_UNTIL_ALL_IS_MADE = 18


def seed_of(case: str) -> int:
    """From the name of the case, never chosen."""
    return int.from_bytes(hashlib.sha256(case.encode()).digest()[:4], "big")


@pytest.fixture(autouse=True)
def alone() -> Iterator[None]:
    tools = ("losetup", "mkfs.ext4", "mkfs.btrfs", "podman", "ip", "nsenter", "tuned", "unshare")
    need(*tools, root=True)
    with alone_with_the_machine():
        yield


def test_what_a_killed_session_leaves_is_seen_before_it_is_restored(tmp_path: Path) -> None:
    seen = left_behind(Session(tmp_path, "local", seed_of("seen")), EVENTS_UNTIL_ALL_IS_MADE)
    assert [line for line in seen if line.startswith("loop device")], seen
    assert [line for line in seen if line.startswith("mount")], seen
    assert [line for line in seen if line.startswith("value")], seen


@pytest.mark.parametrize("number", range(INSTANTS_HERE))
def test_a_kill_here_leaves_nothing_that_restore_does_not_undo(tmp_path: Path, number: int) -> None:
    survive(Session(tmp_path, "local", seed_of(f"here {number}")), VICTIMS[number % 3])


@pytest.mark.parametrize("number", range(INSTANTS_OF_A_STUDY))
def test_a_kill_of_a_real_session_leaves_nothing_that_restore_does_not_undo(
    tmp_path: Path, number: int
) -> None:
    victims: tuple[Victim, ...] = ("controller", "both")
    seed = seed_of(f"study {number}")
    session = StudySession(tmp_path, "local", seed, torture=studies.HERE)
    survive(session, victims[number % 2])


@pytest.mark.parametrize("number", range(INSTANTS_FAR))
def test_a_kill_far_away_leaves_nothing_that_restore_does_not_undo(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    with Sshd(tmp_path / "sshd").running(monkeypatch):
        victims: tuple[Victim, ...] = ("ssh", "controller", "both")
        survive(Session(tmp_path / "far", ADDRESS, seed_of(f"far {number}")), victims[number])
