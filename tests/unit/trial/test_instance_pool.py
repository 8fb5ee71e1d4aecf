"""When a system is made anew between two trials."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest
from tests.unit.hosts.stand_in import refusal

from steelyard.engine.patience import Patience
from steelyard.errors import EngineError, HostError
from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.host import Host
from steelyard.hosts.undo.log import UndoLog
from steelyard.records.ledger import Ledger
from steelyard.study.model import SystemSpec
from steelyard.systems.platform import InstanceContext, Platform
from steelyard.trial.session_state import instance_pool
from steelyard.trial.session_state.context import SessionContext
from steelyard.trial.session_state.instance_pool import InstancePool
from steelyard.trial.session_state.machines import SessionMachines


class Carrier:
    """Takes folders as they come."""

    name = "local"

    def make_directory(self, path: str) -> None:
        pass

    def remove_tree(self, path: str) -> None:
        pass

    def read_file(self, _path: str) -> str:
        return ""


class Place:
    """Notes what is asked of every instance, in ``diary``."""

    diary: list[str]
    refuses: bool = False
    breaks: list[bool]

    def __init__(self, context: InstanceContext) -> None:
        self.name = f"{context.spec.name}-{context.instance}"
        self.label = context.label

    def up(self) -> None:
        if Place.refuses:
            raise SystemFailure("not_ready", "no")
        Place.diary.append(f"up {self.name}")

    def down(self) -> None:
        Place.diary.append(f"down {self.name}")
        if Place.breaks.pop() if Place.breaks else False:
            raise EngineError("the agent has ended unexpectedly", slug="agent-is-lost")


class Network:
    """A lab network whose making and removing may lose the agent; it cannot be made twice."""

    there: bool = False
    breaks: list[str]

    def up(self) -> None:
        assert not Network.there, "there is a network namespace already"
        Network.there = True
        self.lose("up")

    def down(self) -> None:
        self.lose("down")
        Network.there = False

    def lose(self, what: str) -> None:
        if what in Network.breaks:
            Network.breaks.remove(what)
            raise EngineError("the agent has ended unexpectedly", slug="agent-is-lost")


@pytest.fixture
def lodged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[InstancePool]:
    Place.diary, Place.refuses, Place.breaks = [], False, []
    Network.there, Network.breaks = False, []
    monkeypatch.setattr(instance_pool, "place", lambda context: cast("Platform", Place(context)))
    monkeypatch.setattr(instance_pool, "NamespaceNetwork", lambda *_: Network())
    carrier = cast("Host", Carrier())
    with Ledger(tmp_path / "ledger.jsonl") as ledger:
        undo = UndoLog(ledger)
        machines = SessionMachines(undo, Patience())
        monkeypatch.setattr(machines, "at", lambda _address: carrier)
        yield InstancePool(machines, undo, lambda _host, name: f"/tmp/x/{name}", "0123abcd")
        assert undo.pending() == []


def guest(**changes: object) -> SystemSpec:
    return SystemSpec(name="vm", platform="native").model_copy(update=changes)


def test_the_same_system_stays_up_from_trial_to_trial(lodged: InstancePool) -> None:
    assert lodged.bring_up(guest()) == lodged.bring_up(guest())
    lodged.clear()
    assert Place.diary == ["up vm-1", "up vm-1", "down vm-1"]


@pytest.mark.parametrize(
    "change",
    [
        {"settings": {"nic": "e1000"}},
        {"name": "other"},
        {"inside": {"command_line": "mitigations=off"}},
    ],
)
def test_a_system_of_another_shape_has_the_one_before_taken_down(
    lodged: InstancePool, change: dict[str, object]
) -> None:
    lodged.bring_up(guest())
    lodged.bring_up(guest(**change))
    assert Place.diary[1] == "down vm-1"
    assert Place.diary[2].startswith("up ")
    lodged.clear()


def test_systems_that_stay_up_stand_side_by_side_until_all_are_taken_down(
    lodged: InstancePool,
) -> None:
    first = lodged.bring_up(guest(), beside=True)
    lodged.bring_up(guest(name="other"), beside=True)
    assert lodged.bring_up(guest(), beside=True) == first
    assert not [line for line in Place.diary if line.startswith("down")]
    lodged.clear()
    assert Place.diary[-2:] == ["down vm-1", "down other-1"]


def test_two_shapes_of_one_system_that_stay_up_have_names_of_their_own(
    lodged: InstancePool,
) -> None:
    shapes = [guest(), guest(settings={"nic": "e1000"})]
    up = [lodged.bring_up(shape, beside=True) for shape in shapes]
    labels = [cast("Place", place).label for places in up for place in places]
    assert len(set(labels)) == len(labels) == 2
    lodged.clear()


def test_of_more_or_fewer_instances_only_the_difference_comes_and_goes(
    lodged: InstancePool,
) -> None:
    assert [lodged.bring_up(guest(instances=count)) for count in (1, 3, 2)][-1] == lodged.bring_up(
        guest(instances=2)
    )
    assert [line for line in Place.diary if line.startswith("down")] == ["down vm-3"]
    assert Place.diary.count("up vm-3") == 1
    lodged.clear()
    assert sorted(Place.diary[-2:]) == ["down vm-1", "down vm-2"]


@pytest.mark.parametrize(
    "change", [{"inside": {"tuned": "balanced"}}, {"disks": {"data": {"layout": "raid0"}}}]
)
def test_settings_and_disks_change_while_a_system_is_up(
    lodged: InstancePool, change: dict[str, object]
) -> None:
    first = lodged.bring_up(guest())
    assert lodged.bring_up(guest(**change)) == first
    lodged.clear()


def test_what_may_not_be_what_it_was_is_made_anew(lodged: InstancePool) -> None:
    first = lodged.bring_up(guest())
    lodged.forget()
    assert lodged.bring_up(guest()) != first
    lodged.clear()


def test_a_system_that_does_not_come_up_leaves_nothing(lodged: InstancePool) -> None:
    Place.refuses = True
    with pytest.raises(SystemFailure):
        lodged.bring_up(guest())
    lodged.clear()


@pytest.mark.parametrize("what", ["up", "down"])
def test_a_network_that_lost_its_agent_on_the_way_is_removed_by_the_next_try(
    lodged: InstancePool, what: str
) -> None:
    in_lab = guest(settings={"network": "lab"})
    Network.breaks = [what]
    with pytest.raises(EngineError):
        lodged.bring_up(in_lab)
        lodged.bring_up(guest())
    lodged.forget()
    lodged.bring_up(in_lab)
    lodged.clear()
    assert not Network.there


def test_an_instance_that_lost_its_agent_on_its_way_down_is_taken_down_by_the_next_try(
    lodged: InstancePool,
) -> None:
    lodged.bring_up(guest())
    Place.breaks = [True]
    with pytest.raises(EngineError):
        lodged.bring_up(guest(name="other"))
    lodged.bring_up(guest(name="other"))
    lodged.clear()
    assert Place.diary == ["up vm-1", "down vm-1", "down vm-1", "up other-1", "down other-1"]


def test_a_machine_that_refuses_at_the_end_is_an_error_that_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuses(_pool: InstancePool) -> None:
        raise refusal("undo", "system", "cannot remove the container steelyard-7-a-1")

    monkeypatch.setattr(InstancePool, "clear", refuses)
    context = object.__new__(SessionContext)
    context.kept = {}
    context.pool = object.__new__(InstancePool)
    with pytest.raises(HostError, match="cannot remove the container") as caught:
        context.undo_all()
    assert caught.value.slug == "machine-cannot-be-restored"
