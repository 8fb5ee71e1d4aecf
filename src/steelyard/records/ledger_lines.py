"""The lines of a ledger: an event as JSON, closed by a checksum that goes on from line to line.

A line that was changed, cut out, put in or moved does not fit to the one before. Lines of earlier
versions have no checksum and are read without.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Sequence
from pathlib import Path

from pydantic import ValidationError

from steelyard.errors import RecordError
from steelyard.records.events import Event, event_adapter
from steelyard.records.files.documents import LATER
from steelyard.records.files.migration import event_of_1

_BEGIN = b'{"event":"'
"""How every line begins; within a text of JSON its quotes are escaped."""
_OF_LATER = {
    "union_tag_invalid": "this event",
    "extra_forbidden": "its fields",
}
"""Mistakes in a line that is not damaged."""
_CRC = b',"crc32":"%08x"}'
_CRC_BYTES = len(_CRC % 0)
_CHECKED = re.compile(rb'(.+),"crc32":"([0-9a-f]{8})"\}')


def line_of(event: Event, crc: int) -> tuple[bytes, int]:
    """The line of an event behind others with the checksum ``crc``, and the checksum with it."""
    begun = event.model_dump_json().encode().removesuffix(b"}")
    crc = zlib.crc32(begun, crc)
    return begun + _CRC % crc + b"\n", crc


def read_lines(
    path: Path, lines: Sequence[bytes], of: Sequence[str] = ()
) -> tuple[list[Event], int]:
    """The events of whole lines, and the checksum of all.

    ``of``: names of the only events that are asked for. What the other lines say is not read, where
    their checksums fit.

    Raises:
        RecordError: a line is not an event, or not the one that was written there.
    """
    events, crc = [], 0
    asked = tuple(b'%s%s"' % (_BEGIN, name.encode()) for name in of) or (b"",)
    for number, line in enumerate(lines, start=1):
        begun = line[:-_CRC_BYTES]
        known = zlib.crc32(begun, crc)
        if begun.startswith(_BEGIN) and line[-_CRC_BYTES:] == _CRC % known:
            crc = known
            if begun.startswith(asked):
                events.append(_event(path, number, begun + b"}", is_written=True))
            continue
        event, crc = _read(path, number, line, crc)
        if not of or event.event in of:
            events.append(event)
    return events, crc


def read_alone(path: Path, number: int, line: bytes) -> Event:
    """The event of one whole line, whether or not it fits to those before it.

    Raises:
        RecordError: it is not an event.
    """
    checked = _CHECKED.fullmatch(line)
    return _event(path, number, line if checked is None else checked[1] + b"}")


def _read(path: Path, number: int, line: bytes, crc: int) -> tuple[Event, int]:
    torn, begin, rest = line.rpartition(_BEGIN)
    behind_a_torn_one = torn.startswith(_BEGIN) and not torn.rstrip().endswith(b"}")
    own = begin + rest if behind_a_torn_one else line
    checked = _CHECKED.fullmatch(own)
    if checked is None:
        return _event(path, number, own), crc
    crc = zlib.crc32(checked[1], crc)
    if crc != int(checked[2], 16):
        raise _damaged(
            path,
            number,
            "this line, or the one before it, is not the one that was written: its checksum "
            "does not fit",
        )
    return _event(path, number, checked[1] + b"}", is_written=True), crc


def _event(path: Path, number: int, line: bytes, *, is_written: bool = False) -> Event:
    """``is_written``: the line is what was written, by its checksum."""
    try:
        return event_adapter().validate_json(line)
    except ValidationError as error:
        old = _event_of_version_1(line)
        if old is not None:
            return old
        first = error.errors()[0]
        if is_written and first["type"] in _OF_LATER:
            raise RecordError(
                f"{path}:{number}: this steelyard does not know {_OF_LATER[first['type']]}",
                hint=LATER,
                slug="record-version-unknown",
            ) from error
        field = ": ".join(map(str, first["loc"][-1:]))
        message = f"{field}{': ' if field else ''}{first['msg']}"
        what = f"this line of the ledger is not an event: {message}"
        raise _damaged(path, number, what) from error


def _event_of_version_1(line: bytes) -> Event | None:
    try:
        return event_adapter().validate_python(event_of_1(json.loads(line)))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def _damaged(path: Path, number: int, what: str) -> RecordError:
    return RecordError(
        f"{path}:{number}: {what}",
        hint="the ledger is never edited by hand; restore it from a backup of the run",
        slug="ledger-is-damaged",
    )
