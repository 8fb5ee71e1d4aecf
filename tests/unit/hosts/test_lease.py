"""One session a machine: the other is refused, waits, or takes over by word."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from steelyard.engine.patience import Patience
from steelyard.errors import HostError
from steelyard.hosts import lease
from steelyard.hosts.host import Host
from steelyard.hosts.lease import Busy, Claimant, Leases
from steelyard.hosts.machines import LOCAL, open_machine
from steelyard.records.ledger import Ledger

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


def leases(
    run: str, busy: Busy = Busy.REFUSE, fences: dict[str, int] | None = None, *, copy: str = ""
) -> Leases:
    """Of a run whose ledger knows ``fences``; ``copy`` names another folder with its records."""
    known = {} if fences is None else fences
    return Leases(Claimant(f"/runs/{copy or run}", run, known), busy)


def refused(ours: Leases, host: Host, slug: str = "machine-is-in-use") -> str:
    with pytest.raises(HostError) as caught:
        ours.hold(host)
    assert (caught.value.slug, caught.value.exit_code) == (slug, 3)
    return caught.value.message


def test_the_second_session_is_refused_with_who_holds_the_machine(agent: Agents) -> None:
    first = agent()
    leases("one").hold(first)
    message = refused(leases("two"), agent())
    assert "/runs/one" in message
    assert str(first.agent_pid) in message


def test_a_session_holds_a_machine_once_under_all_its_names(agent: Agents) -> None:
    ours = leases("one")
    host, other_name = agent(), agent()
    for each in (host, other_name, host):
        ours.hold(each)


def test_the_kernel_releases_what_a_killed_agent_held(agent: Agents) -> None:
    first = agent()
    leases("one").hold(first)
    first.kill()
    leases("two", Busy.WAIT).hold(agent())


def test_who_waits_learns_once_for_whom_and_goes_on_at_the_end(agent: Agents) -> None:
    first = agent()
    leases("one").hold(first)
    told: list[str] = []

    def waits(why: str) -> None:
        told.append(why)
        first.close()

    leases("two", Busy.WAIT).hold(agent(), waits)
    assert len(told) == 1
    assert "/runs/one" in told[0]


def test_a_session_that_was_taken_over_measures_nothing_more(agent: Agents) -> None:
    first, second = agent(), agent()
    before, after = leases("one"), leases("two", Busy.TAKE_OVER)
    before.hold(first)
    after.hold(second)
    assert "/runs/two" in refused(before, agent(), "machine-was-taken-over")
    after.hold(second)


def test_a_session_that_loses_its_agent_to_another_does_not_take_the_machine_back(
    agent: Agents, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second, again = agent(), agent(), agent()
    before, after = leases("one"), leases("two", Busy.TAKE_OVER)
    before.hold(first)
    seen: list[str] = []

    def meanwhile(_: float) -> None:
        seen.append(refused(before, again, "machine-was-taken-over"))

    monkeypatch.setattr(lease, "time", SimpleNamespace(**{**vars(time), "sleep": meanwhile}))
    after.hold(second)
    assert "/runs/two" in seen[0]


@pytest.mark.parametrize("busy", [Busy.WAIT, Busy.TAKE_OVER])
def test_a_session_that_was_taken_over_neither_waits_for_the_other_nor_ends_it(
    agent: Agents, busy: Busy
) -> None:
    first, second = agent(), agent()
    before, after = leases("one", busy), leases("two", Busy.TAKE_OVER)
    before.hold(first)
    after.hold(second)
    refused(before, agent(), "machine-was-taken-over")
    after.hold(second)


def test_a_controller_that_slept_is_refused_also_when_the_one_that_took_over_has_ended(
    agent: Agents,
) -> None:
    first, second = agent(), agent()
    before = leases("one")
    before.hold(first)
    leases("two", Busy.TAKE_OVER).hold(second)
    second.close()
    assert "/runs/two" in refused(before, agent(), "machine-was-taken-over")


def test_a_session_whose_agent_alone_was_lost_goes_on(agent: Agents) -> None:
    first = agent()
    ours = leases("one")
    ours.hold(first)
    first.kill()
    ours.hold(agent())


def test_numbers_only_rise_and_are_in_the_ledger_before_the_machine_is_taken(
    agent: Agents, tmp_path: Path
) -> None:
    seen: list[tuple[str, int, int]] = []

    def recorded(machine: str, fence: int) -> None:
        text = (tmp_path / "lease").read_text()
        seen.append((machine, fence, json.loads(text)["fence"] if text else 0))

    for run in ("one", "two", "three"):
        host = agent()
        Leases(Claimant(f"/runs/{run}", run, record=recorded)).hold(host)
        host.close()
    (tmp_path / "lease").write_text("")  # as after a reboot
    Leases(Claimant("/runs/one", "one", {LOCAL: 7}, recorded)).hold(agent())
    assert seen == [(LOCAL, 1, 0), (LOCAL, 2, 1), (LOCAL, 3, 2), (LOCAL, 8, 0)]


def test_a_copy_of_a_run_that_is_being_measured_does_not_end_it(
    agent: Agents, tmp_path: Path
) -> None:
    original = tmp_path / "tiny" / "1"
    original.mkdir(parents=True)
    first, known = agent(), dict[str, int]()
    Leases(Claimant(str(original), "one", known)).hold(first)
    copy = leases("one", fences=dict(known), copy="copy")
    with Ledger(original / "ledger.jsonl"):
        assert str(original) in refused(copy, agent())
    assert not first.lost
    copy.hold(agent())


def test_a_copy_of_a_run_that_is_further_elsewhere_is_refused_unless_it_is_said(
    agent: Agents,
) -> None:
    further: dict[str, int] = {}
    host = agent()
    leases("one", fences=further).hold(host)
    host.close()
    assert further == {LOCAL: 1}
    refused(leases("one", copy="stale"), agent(), "run-is-further-elsewhere")
    host = agent()
    leases("one", fences=dict(further), copy="moved").hold(host)
    host.close()
    leases("one", Busy.TAKE_OVER, copy="stale").hold(agent())


def test_a_copy_of_a_run_ends_no_agent_of_a_session_that_is_further(agent: Agents) -> None:
    leases("one").hold(agent())
    assert "/runs/one" in refused(leases("one", copy="stale"), agent())


def test_an_agent_refuses_a_number_that_does_not_stand_in_the_file_any_more(
    agent: Agents, tmp_path: Path
) -> None:
    host = agent()
    ours = leases("one")
    ours.hold(host)
    (tmp_path / "lease").write_text(json.dumps({"run": "x"}))
    refused(ours, host, "machine-was-taken-over")


def test_a_lock_whose_process_was_ended_alone_is_taken_again_with_the_next_number(
    agent: Agents, tmp_path: Path
) -> None:
    host = agent()
    known: dict[str, int] = {}
    ours = leases("one", fences=known)
    ours.hold(host)
    host.stop("lease", grace_s=1)
    ours.hold(host)
    assert known[host.name] == 2
    assert json.loads((tmp_path / "lease").read_text())["fence"] == 2
    refused(leases("two"), agent())


def test_a_lock_that_another_took_when_its_process_was_ended_is_lost(agent: Agents) -> None:
    host = agent()
    ours = leases("one")
    ours.hold(host)
    host.stop("lease", grace_s=1)
    leases("two").hold(agent())
    assert "/runs/two" in refused(ours, host, "machine-was-taken-over")


def test_what_is_left_of_a_killed_session_of_the_same_run_is_ended(agent: Agents) -> None:
    known: dict[str, int] = {}
    leases("one", fences=known).hold(agent())
    leases("one", fences=known).hold(agent())


def test_a_file_that_cannot_be_made_is_named_as_such(
    agent: Agents, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(lease.VARIABLE, "/proc/nothing/lease")
    assert "cannot be locked" in refused(leases("one"), agent())


def test_what_the_run_before_has_left_is_asked_for_once_the_machine_is_free(
    agent: Agents,
) -> None:
    asked: list[str] = []
    first = agent()
    leases("one").hold(first)
    ours = Leases(Claimant("/runs/two", "two"), after=lambda _host, run: asked.append(run))
    refused(ours, agent())
    assert not asked
    first.close()
    ours.hold(agent())
    assert asked == ["/runs/one"]


def test_a_run_asks_nothing_of_its_own_earlier_session(agent: Agents) -> None:
    first, known = agent(), dict[str, int]()
    leases("one", fences=known).hold(first)
    first.close()
    asked: list[str] = []
    claimant = Claimant("/runs/one", "one", known)
    Leases(claimant, after=lambda _host, run: asked.append(run)).hold(agent())
    assert not asked
