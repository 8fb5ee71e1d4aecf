"""The ledger survives whatever a crash can do to its last line."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from steelyard.errors import RecordError
from steelyard.records import ledger_lines
from steelyard.records.events import (
    AttemptFinished,
    AttemptStarted,
    Event,
    LedgerRepaired,
    SessionClosed,
    SessionOpened,
    Undone,
    UndoPlanned,
    VisitsTimed,
    event_adapter,
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


def a_long_ledger(path: Path) -> None:
    with Ledger(path) as ledger:
        for trial in range(1, 4):
            ledger.append(AttemptStarted(trial=trial, attempt=1))
            ledger.append(VisitsTimed(visits=20 + trial, visits_before=20))


def test_the_events_of_some_names_are_read_without_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    a_long_ledger(tmp_path / "ledger.jsonl")
    read: list[bytes] = []

    def counted(_path: Path, _number: int, line: bytes, **_how: bool) -> Event:
        read.append(line)
        return event_adapter().validate_json(line)

    monkeypatch.setattr(ledger_lines, "_event", counted)
    found = read_ledger(tmp_path / "ledger.jsonl", ["visits_timed"])
    assert [event.visits for event in found if isinstance(event, VisitsTimed)] == [21, 22, 23]
    assert len(read) == 3


def test_a_line_that_is_not_read_is_held_against_its_checksum(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    a_long_ledger(path)
    path.write_bytes(path.read_bytes().replace(b'"trial":2', b'"trial":4'))
    with pytest.raises(RecordError, match=r"ledger\.jsonl:3: .*checksum"):
        read_ledger(path, ["visits_timed"])


def test_lines_without_checksums_are_read_to_tell_their_names(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    events = [SessionOpened(), VisitsTimed(visits=24, visits_before=20)]
    path.write_text("".join(f"{event.model_dump_json()}\n" for event in events), "utf-8")
    assert read_ledger(path, ["visits_timed"]) == events[1:]


def test_a_line_begins_with_the_name_of_its_event(tmp_path: Path) -> None:
    with Ledger(tmp_path / "ledger.jsonl") as ledger:
        ledger.append(SessionOpened(at_unix_ns=7))
    line = (tmp_path / "ledger.jsonl").read_text(encoding="utf-8")
    assert line.startswith('{"event":"session_opened","at_unix_ns":7,"crc32":"')
    assert line.endswith('"}\n')


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


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo])
def test_a_ledger_that_is_no_file_is_named(tmp_path: Path, make: Callable[[Path], None]) -> None:
    path = tmp_path / "ledger.jsonl"
    make(path)
    for use in (read_ledger, Ledger):
        with pytest.raises(RecordError) as caught:
            use(path)
        assert caught.value.slug == "ledger-is-damaged"
        assert str(path) in caught.value.message


def test_two_controllers_cannot_write_one_ledger(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    with Ledger(path), pytest.raises(RecordError, match="being written by another"):
        Ledger(path)
    Ledger(path).close()


def planned(number: int) -> UndoPlanned:
    return UndoPlanned(undo=number, host="local", inverse={"kind": "remove_tree", "path": "/x"})


@pytest.mark.parametrize("fits", [0, 1, 20, 60])
def test_an_event_that_does_not_fit_on_the_disk_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fits: int
) -> None:
    path = tmp_path / "ledger.jsonl"
    write = os.write
    room = [fits]

    def fill(file: int, data: memoryview) -> int:
        if not room[0]:
            raise OSError(errno.ENOSPC, "No space left on device")
        written = write(file, data[: room[0]])
        room[0] -= written
        return written

    with Ledger(path) as ledger:
        ledger.append(SessionOpened())
        with monkeypatch.context() as full:
            full.setattr(os, "write", fill)
            with pytest.raises(OSError, match="No space"):
                ledger.append(planned(1))
        ledger.append(SessionClosed(reason=None))
    assert [event.event for event in read_ledger(path)] == ["session_opened", "session_closed"]


def test_nothing_is_recorded_behind_a_line_that_cannot_be_cut_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise OSError(errno.EIO, "Input/output error")

    path = tmp_path / "ledger.jsonl"
    with Ledger(path) as ledger:
        ledger.append(SessionOpened())
        with monkeypatch.context() as broken:
            broken.setattr(os, "write", fails)
            broken.setattr(os, "ftruncate", fails)
            with pytest.raises(OSError, match="Input/output"):
                ledger.append(planned(1))
        with pytest.raises(OSError, match="an earlier event was lost"):
            ledger.append(planned(2))
    assert [event.event for event in read_ledger(path)] == ["session_opened"]


def test_after_a_sync_that_failed_nothing_more_is_recorded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise OSError(errno.EIO, "Input/output error")

    path = tmp_path / "ledger.jsonl"
    with Ledger(path) as ledger:
        with monkeypatch.context() as broken:
            broken.setattr(os, "fsync", fails)
            with pytest.raises(OSError, match="Input/output"):
                ledger.append(SessionOpened())
        with pytest.raises(OSError, match="an earlier event was lost"):
            ledger.append(SessionOpened())
    assert read_ledger(path) == []


@pytest.mark.parametrize("kept", [12, 30, 70])
def test_an_event_behind_a_torn_one_is_read(tmp_path: Path, kept: int) -> None:
    path = tmp_path / "ledger.jsonl"
    torn = planned(1).model_dump_json()[:kept]
    whole = [SessionOpened().model_dump_json(), SessionClosed(reason=None).model_dump_json()]
    path.write_text(f"{whole[0]}\n{torn}{whole[1]}\n", encoding="utf-8")
    assert [event.event for event in read_ledger(path)] == ["session_opened", "session_closed"]


def test_two_whole_events_on_one_line_are_damage(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    whole = SessionOpened().model_dump_json()
    path.write_text(f"{whole} {whole}\n", encoding="utf-8")
    with pytest.raises(RecordError, match=r"ledger\.jsonl:1: "):
        read_ledger(path)


@pytest.mark.parametrize("place", range(4))
@pytest.mark.parametrize("damage", ["bit", "gone", "twice", "swapped"])
def test_a_line_that_is_not_the_one_that_was_written_is_named(
    tmp_path: Path, place: int, damage: str
) -> None:
    path = tmp_path / "ledger.jsonl"
    with Ledger(path) as ledger:
        for number in range(1, 6):
            ledger.append(planned(number))
    lines = path.read_bytes().splitlines(keepends=True)
    match damage:
        case "bit":
            lines[place] = lines[place].replace(b'"path":"/x"', b'"path":"/y"')
        case "gone":
            del lines[place]
        case "twice":
            lines.insert(place, lines[place])
        case _:
            lines[place], lines[place + 1] = lines[place + 1], lines[place]
    path.write_bytes(b"".join(lines))
    with pytest.raises(RecordError, match=r"ledger\.jsonl:[1-6]: .* checksum"):
        read_ledger(path)


def test_a_ledger_of_an_earlier_version_goes_on_with_checksums(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    path.write_text(SessionOpened().model_dump_json() + "\n", encoding="utf-8")
    with Ledger(path) as ledger:
        ledger.append(planned(1))
    with Ledger(path) as ledger:
        ledger.append(planned(2))
        assert len(ledger.events()) == 3
