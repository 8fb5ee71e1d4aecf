"""What a run has left is undone as far as it can be, and the rest is named."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.unit.hosts.stand_in import Machine, said

from steelyard.errors import EngineError
from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.host import Host
from steelyard.hosts.undo.actions.command import Command
from steelyard.hosts.undo.actions.files import RemoveTree
from steelyard.hosts.undo.actions.inverse import Inverse
from steelyard.hosts.undo.actions.processes import EndProcess
from steelyard.hosts.undo.actions.storage import DetachLoop, Unmount, WipeSignatures
from steelyard.hosts.undo.log import UndoLog
from steelyard.hosts.undo.ours import RunFolders
from steelyard.hosts.undo.restore import Restored, restore_all
from steelyard.records.ledger import Ledger


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with Ledger(tmp_path / "ledger.jsonl") as ledger:
        yield ledger


@pytest.fixture
def log(ledger: Ledger) -> UndoLog:
    """Of a session that ended early."""
    return UndoLog(ledger)


Restore = Callable[..., Restored]


@pytest.fixture
def restore(ledger: Ledger) -> Restore:
    """By the next session, which reads what the one before it wrote."""
    return lambda *given: restore_all(UndoLog(ledger), *given)


class Lab:
    """Machines by name; some cannot be reached, some lose their agent once."""

    def __init__(self, *machines: Machine) -> None:
        self.machines = {machine.name: machine for machine in machines}
        self.asked: list[str] = []
        self.losses = 0

    def open(self, name: str) -> Host:
        self.asked.append(name)
        if name not in self.machines:
            raise SystemFailure("unreachable", f"{name} does not answer", "switch it on")
        if self.losses:
            self.losses -= 1
            raise EngineError("the agent has ended", slug="agent-is-lost")
        return self.machines[name].host()


def test_all_of_it_is_undone_newest_first(log: UndoLog, restore: Restore) -> None:
    log.plan("local", RemoveTree("/a/one"))
    log.plan("local", RemoveTree("/a/two"))
    machine = Machine()
    restored = restore(Lab(machine).open)
    assert machine.changes == [("remove", "/a/two"), ("remove", "/a/one")]
    assert restored.left == log.pending() == []


def test_what_is_refused_while_something_older_stands_is_undone_after_it(
    log: UndoLog, restore: Restore
) -> None:
    log.plan("local", RemoveTree("/a/disk"))
    log.plan("local", Command(("rm", "-f", "/a/disk/file"), "remove it"))
    machine = Machine()
    there = said(1, stderr="rm: cannot remove '/a/disk/file': Read-only file system")
    removed = ("remove", "/a/disk")
    machine.tools["rm -f"] = lambda _: said() if removed in machine.changes else there
    restored = restore(Lab(machine).open)
    assert [type(pending.inverse) for pending in restored.undone] == [RemoveTree, Command]
    assert restored.left == log.pending() == []


def test_an_agent_that_outlived_its_controller_is_ended_before_anything_else(
    log: UndoLog, restore: Restore
) -> None:
    log.plan("local", EndProcess(7, 99))
    log.plan("local", RemoveTree("/a/one"))
    log.plan("local", EndProcess(8, 99, what="guest"))
    machine = Machine()
    restore(Lab(machine).open)
    assert machine.changes == [("kill", 7, 99), ("kill", 8, 99), ("remove", "/a/one")]


def test_one_that_fails_is_named_and_keeps_no_other(log: UndoLog, restore: Restore) -> None:
    log.plan("local", RemoveTree("/a/one"))
    log.plan("local", RemoveTree("/a/two"))
    machine = Machine(refuses={"/a/two"})
    restored = restore(Lab(machine).open)
    assert machine.changes == [("remove", "/a/one")]
    assert [str(left) for left in restored.left] == [
        "on local: cannot remove the folder /a/two: cannot remove /a/two: no rights"
    ]
    assert [pending.inverse for pending in log.pending()] == [RemoveTree("/a/two")]


def test_a_machine_that_cannot_be_reached_keeps_its_own_and_no_other(
    log: UndoLog, restore: Restore
) -> None:
    log.plan("ssh://pi", RemoveTree("/a/one"))
    log.plan("local", RemoveTree("/a/two"))
    log.plan("ssh://pi", RemoveTree("/a/three"))
    lab = Lab(Machine())
    restored = restore(lab.open)
    assert [undo.inverse for undo in restored.undone] == [RemoveTree("/a/two")]
    assert {left.hint for left in restored.left} == {"switch it on"}
    assert len(log.pending()) == 2
    assert lab.asked.count("ssh://pi") == 1, "a machine that is off is waited for once"


def test_an_agent_that_ends_meanwhile_is_opened_again(log: UndoLog, restore: Restore) -> None:
    log.plan("local", RemoveTree("/a/one"))
    lab = Lab(Machine())
    lab.losses = 1
    assert restore(lab.open).left == []


def test_what_is_inside_an_instance_goes_with_it_and_is_never_looked_for(
    log: UndoLog, restore: Restore
) -> None:
    log.plan("local", EndProcess(7, 99), removes="web-1")
    log.plan("inside:web-1", RemoveTree("/a/inside"))
    lab = Lab(Machine())
    assert restore(lab.open).left == []
    assert lab.asked == ["local"]


def test_what_is_inside_an_instance_that_nothing_removes_stays_and_is_named(
    log: UndoLog, restore: Restore
) -> None:
    log.plan("inside:web-1", RemoveTree("/a/inside"))
    restored = restore(Lab(Machine()).open)
    assert "has not been removed" in restored.left[0].why


def test_doing_it_again_does_nothing(log: UndoLog, restore: Restore) -> None:
    log.plan("local", RemoveTree("/a/one"))
    restore(Lab(Machine()).open)
    machine = Machine()
    assert restore(Lab(machine).open).undone == []
    assert machine.changes == []


def test_what_the_session_itself_has_planned_stands(ledger: Ledger, log: UndoLog) -> None:
    left = log.plan("local", EndProcess(7, 99))
    session = UndoLog(ledger)
    own = [session.plan("local", EndProcess(8, 99)), session.plan("inside:web-1", EndProcess(9, 9))]
    machine = Machine()
    restored = restore_all(session, Lab(machine).open)
    assert restored.undone == [left]
    assert restored.left == []
    assert machine.changes == [("kill", 7, 99)]
    assert session.pending() == own[::-1]


@pytest.mark.parametrize(
    "path", ["/srv/data", "/runs/1/scratch/../../../srv/data", "/var/tmp/steelyard-ffffffff-one-1"]
)
def test_a_folder_that_the_run_cannot_have_made_stays(
    log: UndoLog, restore: Restore, path: str
) -> None:
    machine = Machine()
    machine.files[f"{path}/file"] = "precious"
    log.plan("local", RemoveTree(path))
    restored = restore(Lab(machine).open, RunFolders(Path("/runs/1")))
    assert machine.changes == []
    assert [left.pending for left in restored.left] == log.pending()


MOVED = "/elsewhere/1/scratch/0001-1/data"


@pytest.mark.parametrize(
    "inverse",
    [
        RemoveTree(MOVED),
        Unmount(MOVED, "/dev/loop0"),
        DetachLoop(MOVED),
        WipeSignatures("/dev/loop0", backing_file=MOVED),
    ],
)
def test_what_lies_in_a_folder_that_was_moved_is_not_taken_for_undone(
    log: UndoLog, restore: Restore, inverse: Inverse
) -> None:
    """It would not be found by its path, and stand under another."""
    log.plan("local", inverse)
    machine = Machine()
    (left,) = restore(Lab(machine).open, RunFolders(Path("/runs/1"))).left
    assert "/elsewhere/1" in left.why
    assert (machine.changes, left.pending) == ([], log.pending()[0])


def test_folders_of_the_run_are_removed_here_and_elsewhere(log: UndoLog, restore: Restore) -> None:
    folders = RunFolders(Path("/runs/1"))
    ours = [
        "/runs/1/scratch",
        f"/var/tmp/steelyard-{folders.mark}-one-1",
        "/tmp/steelyard-0123456789",
    ]
    machine = Machine()
    for path in ours:
        machine.files[f"{path}/file"] = "of a trial"
        log.plan("local", RemoveTree(path))
    assert restore(Lab(machine).open, folders).left == []
    assert sorted(machine.changes) == sorted(("remove", path) for path in ours)
