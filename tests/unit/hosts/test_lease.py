"""One session a machine: the other is refused, waits, or takes over by word."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from steelyard.engine.patience import Patience
from steelyard.errors import HostError
from steelyard.hosts import lease
from steelyard.hosts.host import Host
from steelyard.hosts.lease import Busy, Leases
from steelyard.hosts.machines import LOCAL, open_machine

Agents = Callable[[], Host]


@pytest.fixture(autouse=True)
def quick(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(lease.VARIABLE, str(tmp_path / "lease"))
    monkeypatch.setattr(lease, "_DYING_S", 0.0)


@pytest.fixture
def agent() -> Iterator[Agents]:
    opened: list[Host] = []

    def another() -> Host:
        opened.append(open_machine(LOCAL, Patience()))
        return opened[-1]

    yield another
    for host in opened:
        host.close()


def refused(leases: Leases, host: Host) -> str:
    with pytest.raises(HostError) as caught:
        leases.hold(host)
    assert (caught.value.slug, caught.value.exit_code) == ("machine-is-in-use", 3)
    return caught.value.message


def test_the_second_session_is_refused_with_who_holds_the_machine(agent: Agents) -> None:
    first = agent()
    Leases("/runs/one").hold(first)
    message = refused(Leases("/runs/two"), agent())
    assert "/runs/one" in message
    assert str(first.agent_pid) in message


def test_a_session_holds_a_machine_once_under_all_its_names(agent: Agents) -> None:
    leases = Leases("/runs/one")
    host, other_name = agent(), agent()
    for each in (host, other_name, host):
        leases.hold(each)


def test_the_kernel_releases_what_a_killed_agent_held(agent: Agents) -> None:
    first = agent()
    Leases("/runs/one").hold(first)
    first.kill()
    Leases("/runs/two", Busy.WAIT).hold(agent())


def test_who_waits_learns_once_for_whom_and_goes_on_at_the_end(agent: Agents) -> None:
    first = agent()
    Leases("/runs/one").hold(first)
    told: list[str] = []

    def waits(why: str) -> None:
        told.append(why)
        first.close()

    Leases("/runs/two", Busy.WAIT).hold(agent(), waits)
    assert len(told) == 1
    assert "/runs/one" in told[0]


def test_a_session_that_was_taken_over_measures_nothing_more(agent: Agents) -> None:
    first, second = agent(), agent()
    before, after = Leases("/runs/one"), Leases("/runs/two", Busy.TAKE_OVER)
    before.hold(first)
    after.hold(second)
    refused(before, agent())
    after.hold(second)


def test_a_lock_whose_holder_was_ended_alone_is_not_believed(agent: Agents) -> None:
    host = agent()
    leases = Leases("/runs/one")
    leases.hold(host)
    host.stop("lease", grace_s=1)
    assert "taken over" in refused(leases, host)


def test_what_is_left_of_a_killed_session_of_the_same_run_is_ended(agent: Agents) -> None:
    Leases("/runs/one").hold(agent())
    Leases("/runs/one").hold(agent())


def test_a_file_that_cannot_be_made_is_named_as_such(
    agent: Agents, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(lease.VARIABLE, "/proc/nothing/lease")
    assert "cannot be locked" in refused(Leases("/runs/one"), agent())
