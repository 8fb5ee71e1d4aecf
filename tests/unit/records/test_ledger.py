"""The ledger survives whatever a crash can do to its last line."""

from __future__ import annotations

from pathlib import Path

import pytest

from steelyard.errors import RecordError
from steelyard.records.ledger import Ledger, read_ledger


def test_events_come_back_in_the_order_they_were_written(tmp_path: Path) -> None:
    with Ledger(tmp_path / "ledger.jsonl") as ledger:
        ledger.append("first", number=1)
        ledger.append("second", number=2)
    assert [event["event"] for event in read_ledger(tmp_path / "ledger.jsonl")] == [
        "first",
        "second",
    ]


def test_a_run_that_never_started_has_an_empty_ledger(tmp_path: Path) -> None:
    assert read_ledger(tmp_path / "ledger.jsonl") == []


@pytest.mark.parametrize("kept", range(1, 20))
def test_a_line_torn_at_any_byte_is_cut_off_and_said_so(tmp_path: Path, kept: int) -> None:
    path = tmp_path / "ledger.jsonl"
    with Ledger(path) as ledger:
        ledger.append("whole")
    whole = path.read_bytes()
    path.write_bytes(whole + whole[:kept])
    assert [event["event"] for event in read_ledger(path)] == ["whole"]
    with Ledger(path) as ledger:
        ledger.append("after")
    events = read_ledger(path)
    assert [event["event"] for event in events] == ["whole", "ledger_repaired", "after"]
    assert events[1]["bytes_cut"] == kept


def test_a_line_that_was_edited_by_hand_is_named(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    path.write_bytes(b'{"event":"a"}\nnot json\n{"event":"b"}\n')
    with pytest.raises(RecordError, match=r"ledger\.jsonl:2: .* not JSON"):
        read_ledger(path)


def test_two_controllers_cannot_write_one_ledger(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    with Ledger(path), pytest.raises(RecordError, match="being written by another"):
        Ledger(path)
    Ledger(path).close()
