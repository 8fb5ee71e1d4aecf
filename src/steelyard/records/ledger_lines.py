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
_CHECKED = re.compile(rb'(.+),"crc32":"([0-9a-f]{8})"\}')


def line_of(event: Event, crc: int) -> tuple[bytes, int]:
    """The line of an event behind others with the checksum ``crc``, and the checksum with it."""
    begun = event.model_dump_json().encode().removesuffix(b"}")
    crc = zlib.crc32(begun, crc)
    return begun + b',"crc32":"%08x"}\n' % crc, crc


def read_lines(path: Path, lines: Sequence[bytes]) -> tuple[list[Event], int]:
    """The events of whole lines, and the checksum of all.

    Raises:
        RecordError: a line is not an event, or not the one that was written there.
    """
    events, crc = [], 0
    for number, line in enumerate(lines, start=1):
        event, crc = _read(f"{path}:{number}", line, crc)
        events.append(event)
    return events, crc


def read_alone(place: str, line: bytes) -> Event:
    """The event of one whole line, whether or not it fits to those before it.

    Raises:
        RecordError: it is not an event.
    """
    checked = _CHECKED.fullmatch(line)
    return _event(place, line if checked is None else checked[1] + b"}")


def _read(place: str, line: bytes, crc: int) -> tuple[Event, int]:
    torn, begin, rest = line.rpartition(_BEGIN)
    behind_a_torn_one = torn.startswith(_BEGIN) and not torn.rstrip().endswith(b"}")
    own = begin + rest if behind_a_torn_one else line
    checked = _CHECKED.fullmatch(own)
    if checked is None:
        return _event(place, own), crc
    crc = zlib.crc32(checked[1], crc)
    if crc != int(checked[2], 16):
        raise _damaged(
            place,
            "this line, or the one before it, is not the one that was written: its checksum "
            "does not fit",
        )
    return _event(place, checked[1] + b"}", is_written=True), crc


def _event(place: str, line: bytes, *, is_written: bool = False) -> Event:
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
                f"{place}: this steelyard does not know {_OF_LATER[first['type']]}",
                hint=LATER,
                slug="record-version-unknown",
            ) from error
        field = ": ".join(map(str, first["loc"][-1:]))
        message = f"{field}{': ' if field else ''}{first['msg']}"
        raise _damaged(place, f"this line of the ledger is not an event: {message}") from error


def _event_of_version_1(line: bytes) -> Event | None:
    try:
        return event_adapter().validate_python(event_of_1(json.loads(line)))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def _damaged(place: str, what: str) -> RecordError:
    return RecordError(
        f"{place}: {what}",
        hint="the ledger is never edited by hand; restore it from a backup of the run",
        slug="ledger-is-damaged",
    )
