"""The inverse is in the ledger before the change; what was not undone is found again."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.hosts.stand_in import Machine

from steelyard.engine.agent import AgentRefusal
from steelyard.errors import RecordError
from steelyard.hosts.undo.actions.files import RemoveTree
from steelyard.hosts.undo.actions.processes import EndProcess
from steelyard.hosts.undo.log import UndoLog, pending_undos
from steelyard.records.events import UndoPlanned
from steelyard.records.ledger import Ledger


def test_what_was_planned_and_not_undone_is_pending_newest_first(tmp_path: Path) -> None:
    with Ledger(tmp_path / "ledger.jsonl") as ledger:
        log = UndoLog(ledger)
        log.plan("local", RemoveTree("/a/scratch"))
        log.plan("local", EndProcess(7, 99))
        pending = pending_undos(ledger.events())
    assert [undo.inverse for undo in pending] == [EndProcess(7, 99), RemoveTree("/a/scratch")]


def test_applying_takes_the_change_back_once(tmp_path: Path) -> None:
    machine = Machine()
    with Ledger(tmp_path / "ledger.jsonl") as ledger:
        log = UndoLog(ledger)
        log.apply(machine.host(), log.plan("local", RemoveTree("/a/scratch")))
        assert pending_undos(ledger.events()) == []
    assert machine.changes == [("remove", "/a/scratch")]


def test_a_refused_undo_stays_pending(tmp_path: Path) -> None:
    machine = Machine()
    machine.refuses = {"/a/scratch"}
    with Ledger(tmp_path / "ledger.jsonl") as ledger:
        log = UndoLog(ledger)
        planned = log.plan("local", RemoveTree("/a/scratch"))
        with pytest.raises(AgentRefusal):
            log.apply(machine.host(), planned)
        assert pending_undos(ledger.events()) == [planned]


def test_numbers_go_on_where_an_earlier_session_stopped(tmp_path: Path) -> None:
    with Ledger(tmp_path / "ledger.jsonl") as ledger:
        first = UndoLog(ledger).plan("local", RemoveTree("/a/one"))
        second = UndoLog(ledger).plan("local", RemoveTree("/a/two"))
        assert second.undo == first.undo + 1


def test_what_was_changed_inside_an_instance_is_gone_with_the_instance(tmp_path: Path) -> None:
    with Ledger(tmp_path / "ledger.jsonl") as ledger:
        log = UndoLog(ledger)
        instance = log.plan("local", EndProcess(7, 99), removes="steelyard-1-web-1")
        log.plan("inside:steelyard-1-web-1", RemoveTree("/srv/in"))
        other = log.plan("inside:steelyard-1-web-2", RemoveTree("/srv/in"))
        log.done(instance)
        assert log.pending() == [other]


def test_what_is_inside_stays_pending_while_anything_of_the_instance_stands(tmp_path: Path) -> None:
    with Ledger(tmp_path / "ledger.jsonl") as ledger:
        log = UndoLog(ledger)
        first = log.plan("local", EndProcess(7, 99), removes="steelyard-1-web-1")
        second = log.plan("local", EndProcess(8, 99), removes="steelyard-1-web-1")
        inside = log.plan("inside:steelyard-1-web-1", RemoveTree("/srv/in"))
        log.done(first)
        assert log.pending() == [inside, second]
        log.done(second)
        assert log.pending() == []


def test_an_inverse_of_another_version_is_named(tmp_path: Path) -> None:
    with Ledger(tmp_path / "ledger.jsonl") as ledger:
        inverse = {"kind": "repaint", "path": "/"}
        ledger.append(UndoPlanned(undo=1, host="local", inverse=inverse))
        with pytest.raises(RecordError, match="repaint") as caught:
            pending_undos(ledger.events())
    assert caught.value.slug == "inverse-is-unknown"
