"""Files that were cut, flipped, or given a value that does not belong there."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

_PIECES = (
    b"",
    b"\0",
    b"\n",
    b'"',
    b"{",
    b"[" * 2000,
    b"}",
    b"-",
    b"1e999",
    b"\xff",
    b"NaN",
    b"\\ud800",
)
_ODD: tuple[Any, ...] = (None, True, -1, 0, 3.5, 10**40, "", "x", [], {}, [[1]], {"kind": "x"})


def mutated(data: bytes, draw: random.Random) -> bytes:
    """One to three changes, each of bytes or, where the text is JSON, of a value."""
    for _ in range(draw.randint(1, 3)):
        data = _with_odd_value(data, draw) if draw.random() < 0.4 else _with_bytes(data, draw)
    return data


def _with_bytes(data: bytes, draw: random.Random) -> bytes:
    at = draw.randint(0, len(data))
    match draw.randrange(5):
        case 0:
            return data[:at]
        case 1:
            return data[:at] + draw.choice(_PIECES) + data[at:]
        case 2:
            return data[:at] + bytes([draw.randrange(256)]) + data[at + 1 :]
        case 3:
            return data[:at] + data[at + draw.randint(1, 40) :]
        case _:
            return data[:at] + data[max(0, at - draw.randint(1, 200)) :]


def _with_odd_value(data: bytes, draw: random.Random) -> bytes:
    """Of a document, or of one line of several."""
    lines = data.splitlines(keepends=True)
    at = draw.randrange(len(lines)) if lines else 0
    for head, part, tail in (
        (b"", data, b""),
        (b"".join(lines[:at]), b"".join(lines[at : at + 1]), b"".join(lines[at + 1 :])),
    ):
        try:
            document = json.loads(part)
        except (ValueError, RecursionError):
            continue
        places = list(_places(document))
        if places:
            inside, key = draw.choice(places)
            if draw.random() < 0.25 and isinstance(inside, dict):
                del inside[key]
            else:
                inside[key] = draw.choice(_ODD)
            return head + json.dumps(document).encode() + b"\n" + tail
    return _with_bytes(data, draw)


def _places(document: Any) -> Iterator[tuple[Any, Any]]:
    inside = document.items() if isinstance(document, dict) else ()
    inside = enumerate(document) if isinstance(document, list) else inside
    for key, value in inside:
        yield document, key
        yield from _places(value)
