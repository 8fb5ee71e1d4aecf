"""One session a machine, also where its agent stands behind the real ``ssh``."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.platforms.sshd import ADDRESS, Sshd

from steelyard.engine.patience import Patience
from steelyard.errors import HostError
from steelyard.hosts import lease
from steelyard.hosts.host import Host
from steelyard.hosts.lease import Busy, Claimant, Leases
from steelyard.hosts.machines import LOCAL, open_machine


@pytest.fixture
def sshd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Sshd]:
    monkeypatch.setenv(lease.VARIABLE, str(tmp_path / "lease"))
    monkeypatch.setattr(lease, "_DYING_S", 0.0)
    server = Sshd(tmp_path / "sshd")
    with server.running(monkeypatch):
        yield server


@pytest.fixture
def opened() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def at(address: str, opened: ExitStack) -> Host:
    host = open_machine(address, Patience())
    opened.callback(host.close)
    return host


def leases(run: str, busy: Busy = Busy.REFUSE) -> Leases:
    return Leases(Claimant(f"/runs/{run}", run), busy)


def refused(ours: Leases, host: Host) -> str:
    with pytest.raises(HostError) as caught:
        ours.hold(host)
    return caught.value.slug


@pytest.mark.parametrize(("first", "second"), [(ADDRESS, LOCAL), (LOCAL, ADDRESS)])
def test_a_session_by_ssh_and_one_on_the_machine_itself_exclude_each_other(
    sshd: Sshd, opened: ExitStack, first: str, second: str
) -> None:
    leases("one").hold(at(first, opened))
    assert refused(leases("two"), at(second, opened)) == "machine-is-in-use"


def test_a_connection_that_breaks_releases_the_machine_and_its_session_does_not_get_it_again(
    sshd: Sshd, opened: ExitStack
) -> None:
    ours = leases("one")
    far = at(ADDRESS, opened)
    ours.hold(far)
    sshd.break_connections()
    other = at(LOCAL, opened)
    leases("two", Busy.WAIT).hold(other)
    other.close()
    while not far.lost:
        time.sleep(0.01)
    assert refused(ours, at(ADDRESS, opened)) == "machine-was-taken-over"


def test_a_session_by_ssh_is_taken_over_by_word(sshd: Sshd, opened: ExitStack) -> None:
    ours, far = leases("one"), at(ADDRESS, opened)
    ours.hold(far)
    leases("two", Busy.TAKE_OVER).hold(at(LOCAL, opened))
    assert refused(ours, at(ADDRESS, opened)) == "machine-was-taken-over"
