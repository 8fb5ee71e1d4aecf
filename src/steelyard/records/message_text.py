"""Text of messages of programs that are measured, and of attempts that failed.

A control character may move the cursor, rename the window or hide what follows; a character that
changes the direction of writing shows a text other than it is. ``visible`` shows each by its
number, before the text reaches a terminal, a report or a record.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence

_UNSAFE = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
)
"""All but line feed and tab."""
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


def visible(text: str) -> str:
    r"""The text with what would act on a terminal written out, as ``\x1b``."""
    return _UNSAFE.sub(_by_number, text.replace("\r\n", "\n"))


def _by_number(found: re.Match[str]) -> str:
    number = ord(found[0])
    return f"\\x{number:02x}" if number < 256 else f"\\u{number:04x}"


def first_line(message: str) -> str:
    """What a list has room for: of the message of a server, its first line."""
    return message.strip().partition("\n")[0]


def masked(message: str) -> str:
    """The message without what differs between attempts: counts, ports, names of folders."""
    return _NUMBER.sub("#", message)


def commonest(messages: Sequence[str]) -> str:
    """The first line of the first of the messages that say what most of them say."""
    alike: dict[str, list[str]] = defaultdict(list)
    for message in map(first_line, messages):
        alike[masked(message)].append(message)
    return max(alike.values(), key=len)[0]
