"""The ledger survives whatever a crash can do to its last line."""

from __future__ import annotations

from pathlib import Path

import pytest

from steelyard.errors import RecordError
from steelyard.records.events import (
    AttemptFinished,
    AttemptStarted,
    Event,
    LedgerRepaired,
    SessionClosed,
    SessionOpened,
    Undone,
    UndoPlanned,
)
from steelyard.records.ledger import Ledger, read_ledger
from steelyard.records.schema import Outcome


def test_events_come_back_in_the_order_they_were_written(tmp_path: Path) -> None:
    with Ledger(tmp_path / "ledger.jsonl") as ledger:
        ledger.append(AttemptStarted(trial=1, attempt=1))
        ledger.append(AttemptFinished(trial=1, attempt=1, outcome=Outcome.OK))
    started, finished = read_ledger(tmp_path / "ledger.jsonl")
    assert isinstance(started, AttemptStarted)
    assert isinstance(finished, AttemptFinished)
    assert finished.outcome is Outcome.OK
    assert finished.at_unix_ns >= started.at_unix_ns > 0


def test_an_event_comes_back_as_it_was_appended(tmp_path: Path) -> None:
    inverse = {"kind": "remove_tree", "path": "/x", "levels": [1, None, "a"]}
    written: list[Event] = [
        UndoPlanned(undo=1, host="local", removes="box", inverse=inverse),
        Undone(undo=1),
        SessionClosed(reason=None),
    ]
    with Ledger(tmp_path / "ledger.jsonl") as ledger:
        for event in written:
            ledger.append(event)
    assert read_ledger(tmp_path / "ledger.jsonl") == written


def test_a_line_begins_with_the_name_of_its_event(tmp_path: Path) -> None:
    with Ledger(tmp_path / "ledger.jsonl") as ledger:
        ledger.append(SessionOpened(at_unix_ns=7))
    line = (tmp_path / "ledger.jsonl").read_text(encoding="utf-8")
    assert line == '{"event":"session_opened","at_unix_ns":7}\n'


def test_a_run_that_never_started_has_an_empty_ledger(tmp_path: Path) -> None:
    assert read_ledger(tmp_path / "ledger.jsonl") == []


@pytest.mark.parametrize("kept", range(1, 20))
def test_a_line_torn_at_any_byte_is_cut_off_and_said_so(tmp_path: Path, kept: int) -> None:
    path = tmp_path / "ledger.jsonl"
    with Ledger(path) as ledger:
        ledger.append(SessionOpened())
    whole = path.read_bytes()
    path.write_bytes(whole + whole[:kept])
    assert [type(event) for event in read_ledger(path)] == [SessionOpened]
    with Ledger(path) as ledger:
        ledger.append(SessionClosed(reason="decided"))
    opened, repaired, closed = read_ledger(path)
    assert isinstance(opened, SessionOpened)
    assert isinstance(repaired, LedgerRepaired)
    assert isinstance(closed, SessionClosed)
    assert repaired.bytes_cut == kept


@pytest.mark.parametrize(
    "line", ["not json", '{"event":"a"}', '{"event":"undone"}', '["session_opened"]']
)
def test_a_line_that_is_no_event_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "ledger.jsonl"
    whole = SessionOpened().model_dump_json()
    path.write_text(f"{whole}\n{line}\n{whole}\n", encoding="utf-8")
    with pytest.raises(RecordError, match=r"ledger\.jsonl:2: ") as caught:
        read_ledger(path)
    assert caught.value.slug == "ledger-is-damaged"


def test_two_controllers_cannot_write_one_ledger(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    with Ledger(path), pytest.raises(RecordError, match="being written by another"):
        Ledger(path)
    Ledger(path).close()
