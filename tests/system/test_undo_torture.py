"""A hundred instants, over every setting, layout and platform that this machine has."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.platforms.alone import alone_with_the_machine
from tests.platforms.needs import need
from tests.platforms.sshd import ADDRESS, Sshd, need_sshd
from tests.platforms.test_undo_torture import seed_of
from tests.platforms.torture.torture import Session, StudySession, Victim, survive

pytestmark = pytest.mark.system
HERE: tuple[Victim, ...] = ("controller", "agent", "both")
FAR: tuple[Victim, ...] = ("ssh", "controller", "both")


@pytest.fixture(autouse=True)
def alone() -> Iterator[None]:
    tools = ("losetup", "mkfs.ext4", "mkfs.btrfs", "podman", "ip", "nsenter", "tuned", "unshare")
    need(*tools, root=True)
    with alone_with_the_machine():
        yield


@pytest.mark.parametrize("number", range(30))
def test_a_kill_of_a_real_session_is_survived(tmp_path: Path, number: int) -> None:
    victims: tuple[Victim, ...] = ("controller", "both")
    session = StudySession(tmp_path, "local", seed_of(f"system study {number}"))
    survive(session, victims[number % 2])


@pytest.mark.parametrize("number", range(50))
def test_a_kill_here_is_survived(tmp_path: Path, number: int) -> None:
    survive(Session(tmp_path, "local", seed_of(f"system here {number}")), HERE[number % 3])


@pytest.mark.parametrize("number", range(20))
def test_a_kill_far_away_is_survived(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    need_sshd()
    server = Sshd(tmp_path / "sshd")
    server.prepare()
    server.start()
    monkeypatch.setenv("PATH", f"{server.bin}:{os.environ['PATH']}")
    try:
        session = Session(tmp_path / "far", ADDRESS, seed_of(f"system far {number}"))
        survive(session, FAR[number % 3])
    finally:
        server.stop()
